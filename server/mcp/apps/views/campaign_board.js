"use strict";

/* The campaign board: follows one deployment with get_deployment, and pauses it. */
(() => {
  const { byId, callTool, count, isObject, make, moment, money, note, number, offers, plain, say, span, wordsOf } = view;
  const OFTEN_MS = 2_000;
  const SELDOM_MS = 15_000;
  const AFTER_ERROR_MS = 30_000;
  const ERRORS_IN_A_ROW = 6;
  const MOST_REFRESHES = 900;
  const PAUSE_LIMIT_MS = 120_000; // a host may ask the person first
  const MOST_ROWS = 8;
  const OVER = ["completed", "cancelled", "failed"];

  let id = null;
  let shown = null;
  let timer = null;
  let asking = false;
  let pausing = false;
  let ended = false;
  let errors = 0;
  let refreshes = 0;
  let delayMs = OFTEN_MS;
  let samples = [];

  // ---- following the deployment

  const inbound = () => shown?.call_type === "inbound";
  const moving = () =>
    !shown || (!inbound() && ["active", "scheduled"].includes(shown.status)) || count(shown.stats?.in_flight) > 0;

  function later(ms) {
    clearTimeout(timer);
    const goesOn = !ended && offers("serverTools") && moving() && errors < ERRORS_IN_A_ROW && refreshes < MOST_REFRESHES;
    byId("refresh").hidden = goesOn || !id || ended || !offers("serverTools");
    if (goesOn && !document.hidden) timer = setTimeout(refresh, ms);
  }

  async function refresh() {
    clearTimeout(timer);
    if (!id || asking || ended || !offers("serverTools")) return;
    asking = true;
    refreshes += 1;
    try {
      const { structuredContent } = await callTool("get_deployment", { deployment_id: id });
      errors = 0;
      const before = JSON.stringify([shown?.status, shown?.stats]);
      take(structuredContent);
      const still = before === JSON.stringify([shown?.status, shown?.stats]);
      delayMs = still ? Math.min(delayMs * 1.5, SELDOM_MS) : OFTEN_MS;
    } catch (error) {
      errors += 1;
      delayMs = Math.min(delayMs * 2, AFTER_ERROR_MS);
      say("updated", shown ? `Not updated: ${error.message}` : "");
      if (!shown) {
        say("state", "Not available");
        note(error.message, "bad");
      }
    } finally {
      asking = false;
      later(delayMs);
    }
  }

  function take(found) {
    if (!isObject(found) || !isObject(found.stats)) throw new Error("The answer holds no counters.");
    shown = found;
    const now = Date.now();
    // Only what was seen a short while ago tells how fast it goes now.
    samples = [...samples.filter((sample) => now - sample.at < 60_000), { at: now, done: settledOf(found.stats) }];
    render();
    say("updated", `Updated ${moment(now, { timeStyle: "medium" })}`);
  }

  // ---- what is shown

  /* Those who get no further call: how fast that grows tells when it is over. Not all of them were called. */
  const settledOf = (stats) =>
    Math.max(0, count(stats.contacts) - count(stats.pending) - count(stats.in_flight) - count(stats.retry_waiting));

  function render() {
    const { stats } = shown;
    byId("board").setAttribute("aria-busy", "false");
    byId("name").textContent = shown.name || "Campaign";
    byId("state").dataset.tone = TONES[shown.status] ?? "";
    say("state", plain(shown.status));
    byId("simulated").hidden = shown.simulated !== true;
    say("timing", timing());
    byId("pause").hidden = !offers("serverTools") || (!["active", "scheduled"].includes(shown.status) && !pausing);
    byId("figures").hidden = false;
    byId("progress-part").hidden = inbound();
    if (!pausing) note(reason(), shown.status === "failed" ? "bad" : "");
    renderPeople(stats);
    renderRows("outcomes", stats.outcomes);
    renderRows("dispositions", stats.dispositions);
    renderSpend();
  }

  function timing() {
    if (shown.completed_at && shown.started_at) {
      const took = (Date.parse(shown.completed_at) - Date.parse(shown.started_at)) / 1_000;
      return `ended ${moment(shown.completed_at)} after ${span(took)}`;
    }
    if (shown.status === "scheduled") return shown.start_at ? `starts ${moment(shown.start_at)}` : "";
    return shown.started_at ? `since ${moment(shown.started_at)}` : "";
  }

  function reason() {
    const left = count(shown.stats.in_flight);
    if (shown.status === "paused") {
      const byHand = !shown.status_reason || shown.status_reason === "manual";
      const because = byHand ? "" : `: ${plain(shown.status_reason).toLowerCase()}`;
      const finishing = left ? ` ${number(left)} ${left === 1 ? "call is" : "calls are"} still finishing.` : "";
      const stopped = inbound() ? "Callers are not answered." : "No new calls are made.";
      return `Paused${because}.${finishing} ${stopped} Ask the assistant to resume.`;
    }
    if (inbound() && shown.status === "active") {
      return `Answers whoever calls.${shown.simulated ? " On the simulated network simulate_inbound_call has people call." : ""}`;
    }
    if (shown.status === "draft") return "A draft: nobody has been called.";
    const known = shown.status === "completed" && shown.status_reason === "audience_exhausted";
    return shown.status_reason && !known ? `${plain(shown.status_reason)}.` : "";
  }

  function renderPeople(stats) {
    const contacts = count(stats.contacts);
    const done = count(stats.completed) + count(stats.exhausted);
    const parts = [
      ["reached", "Reached", count(stats.completed)],
      ["not-reached", "Not reached", count(stats.exhausted)],
      ["not-called", "Not called", count(stats.suppressed) + count(stats.expired) + count(stats.cancelled)],
      ["now", "On a call now", count(stats.in_flight)],
      ["again", "To call again", count(stats.retry_waiting)],
      ["waiting", "Not called yet", count(stats.pending)],
    ];
    byId("done").textContent = number(done);
    byId("of").textContent = `of ${number(contacts)} ${contacts === 1 ? "person" : "people"} done`;
    byId("estimate").textContent = estimate();
    const bar = byId("progress");
    bar.setAttribute("aria-valuemax", String(contacts));
    bar.setAttribute("aria-valuenow", String(done));
    const now = count(stats.in_flight) ? `, ${number(stats.in_flight)} on a call now` : "";
    bar.setAttribute("aria-valuetext", `${number(done)} of ${number(contacts)} people done${now}`);
    fill(bar, parts.slice(0, 4).map(([part, , value]) => ({ part, value })), contacts);
    const entry = ([part, label, value]) =>
      make("div", {}, make("dt", { "data-part": part }, label), make("dd", {}, number(value)));
    const wanted = parts.filter(([part, , value]) => value || part === "reached" || part === "not-reached");
    byId("people").replaceChildren(...wanted.map(entry));
  }

  /* The bar of `whole`, cut into parts. Parts stay the same elements, so that they may grow smoothly. */
  function fill(bar, parts, whole) {
    while (bar.children.length < parts.length + 1) bar.append(make("span"));
    let rest = whole;
    parts.forEach(({ part, value, tone }, index) => {
      const element = bar.children[index];
      element.dataset.part = part;
      element.dataset.tone = tone ?? "";
      element.style.flexGrow = String(value);
      element.hidden = !value;
      rest -= value;
    });
    const last = bar.children[parts.length];
    last.style.flexGrow = String(Math.max(0, rest));
    last.style.background = "none";
    last.hidden = rest <= 0;
  }

  function renderRows(name, counts) {
    const all = Object.entries(isObject(counts) ? counts : {}).filter(([, value]) => count(value));
    all.sort((one, other) => other[1] - one[1]);
    byId(`${name}-part`).hidden = all.length === 0;
    const total = all.reduce((sum, [, value]) => sum + value, 0);
    const first = all.length > MOST_ROWS ? all.slice(0, MOST_ROWS - 1) : all;
    const others = total - first.reduce((sum, [, value]) => sum + value, 0);
    const rows = others ? [...first, ["other", others]] : first;
    const list = byId(name);
    const known = new Map([...list.children].map((row) => [row.dataset.key, row]));
    list.replaceChildren(...rows.map(([key, value]) => row(known.get(key), key, value, total)));
  }

  function row(known, key, value, total) {
    const made = known ?? make("li", { "data-key": key }, make("span", {}, plain(key)), make("span", { class: "figure" }),
      make("span", { class: "bar", "aria-hidden": "true" }));
    const share = Math.round((100 * value) / total);
    made.children[1].replaceChildren(number(value), make("span", { class: "share" }, `${share} %`));
    fill(made.children[2], [{ part: "share", value }], total);
    return made;
  }

  function renderSpend() {
    const spent = shown.stats.spend;
    const cap = isObject(shown.budget_cap) ? shown.budget_cap : null;
    byId("spend").textContent = money(spent);
    byId("cap").textContent = cap ? `of ${money(cap)} budget cap` : "no budget cap";
    const bar = byId("budget");
    bar.hidden = !cap;
    if (!cap) return;
    const [used, whole] = [count(Number(spent?.amount)), count(Number(cap.amount))];
    bar.setAttribute("aria-valuemax", String(whole));
    bar.setAttribute("aria-valuenow", String(Math.min(used, whole)));
    bar.setAttribute("aria-valuetext", `${money(spent)} of ${money(cap)}`);
    const tone = used >= whole ? "bad" : used >= 0.9 * whole ? "warm" : "";
    fill(bar, [{ part: "spend", value: Math.min(used, whole), tone }], whole);
  }

  /* From what this page itself has seen: how fast contacts became done in the last minute. */
  function estimate() {
    if (shown.status !== "active") return "";
    const [first, last] = [samples[0], samples[samples.length - 1]];
    const speed = (1_000 * (last.done - first.done)) / Math.max(1, last.at - first.at);
    const left = count(shown.stats.contacts) - last.done;
    if (left && last.done - first.done >= 3 && last.at - first.at >= 3_000) return `about ${span(left / speed)} left`;
    const idle = !count(shown.stats.in_flight) && Date.parse(shown.next_dial_at) > Date.parse(shown.clock ?? new Date());
    return idle ? `next call ${moment(shown.next_dial_at)}` : "";
  }

  // ---- pausing

  async function pause() {
    if (pausing || !id) return;
    const button = byId("pause");
    pausing = true;
    button.disabled = true;
    button.textContent = "Pausing…";
    note("Pausing…");
    let failed = "";
    try {
      const { structuredContent: found } = await callTool("pause_deployment", { deployment_id: id }, PAUSE_LIMIT_MS);
      if (shown && isObject(found) && typeof found.status === "string") {
        shown = { ...shown, status: found.status, status_reason: found.status_reason };
      }
    } catch (error) {
      failed = error.message;
    }
    pausing = false;
    button.disabled = false;
    button.textContent = "Pause";
    if (shown) render();
    if (failed) note(`Not paused. ${failed}`, "bad");
    else if (document.activeElement === document.body || button.hidden) byId("name").focus();
    [errors, delayMs] = [0, OFTEN_MS];
    if (!failed) refresh();
  }

  // ---- the host

  function follow(wanted) {
    if (typeof wanted !== "string" || !wanted) return;
    id = wanted;
    refresh();
  }

  view.on("ui/notifications/tool-input", ({ arguments: given }) => follow(given?.deployment_id ?? given?.id));
  view.on("ui/notifications/tool-result", (result) => {
    const found = result.structuredContent;
    if (isObject(found) && isObject(found.stats) && (!shown || found.stats.outcomes)) take(found);
    say("refused", result.isError ? wordsOf(result) || "The tool failed." : "");
    follow(isObject(found) ? (found.id ?? id) : id);
  });
  view.on("ui/notifications/tool-cancelled", () => note("The call of the tool was cancelled."));
  view.on("ui/resource-teardown", () => {
    ended = true;
    clearTimeout(timer);
  });

  byId("pause").addEventListener("click", pause);
  byId("refresh").addEventListener("click", () => {
    [errors, refreshes, delayMs] = [0, 0, OFTEN_MS];
    refresh();
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden && id && moving()) refresh();
  });

  view.start("callwright-campaign-board", "Campaign board").catch((error) => {
    byId("board").setAttribute("aria-busy", "false");
    byId("state").textContent = "No host";
    note(`This page is shown by an assistant's host. ${error.message}`, "bad");
  });
})();
