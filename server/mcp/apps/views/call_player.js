"use strict";

/* The call player: the sound of one call, with its transcript following. */
(() => {
  const { byId, callTool, clock, count, isObject, make, moment, note, plain, readResource, say, wordsOf } = view;
  const SOUND_LIMIT_MS = 90_000; // the first reading makes the sound
  const AGAIN_MS = 3_000;
  const MOST_TRIES = 10;
  const MOST_PARTS = 20;
  const TOKENS = 20_000;
  const JUMP_S = 5;
  const ABSENT = {
    deleted: "The recording was deleted.",
    absent: "There is no recording: nobody spoke on this call.",
    not_recorded: "This call was not recorded.",
  };

  const audio = byId("audio");
  let id = null;
  let call = null;
  let transcript = null;
  let first = null; // what the tool itself answered
  let current = -1;
  let loading = null;
  let ready = false;
  let refusal = ""; // why there is nothing to read
  let silence = ""; // why there is no sound
  let dragging = false;
  let ended = false;
  let timer = null;

  // ---- what is read

  const uri = (rest = "") => `callwright://calls/${encodeURIComponent(id)}${rest}`;
  const parsed = async (address) => JSON.parse((await readResource(address)).text);

  async function open(wanted) {
    if (typeof wanted !== "string" || !wanted || id === wanted) return;
    id = wanted;
    await Promise.all([openCall(), openTranscript(0)]);
    byId("player").setAttribute("aria-busy", "false");
  }

  async function openCall() {
    try {
      call = await parsed(uri()).catch(async () => (await callTool("get_call", { call_id: id })).structuredContent);
    } catch {
      call = null; // the transcript says enough by itself
    }
    renderHead();
  }

  async function openTranscript(tries) {
    try {
      transcript = await parsed(uri("/transcript.json")).catch(transcriptByTool);
    } catch (error) {
      transcript = Array.isArray(first?.turns) ? first : null;
      if (!transcript) refusal ||= `The transcript cannot be read. ${error.message}`;
    }
    renderHead();
    renderTurns();
    const writing = transcript?.status === "processing" && !ended;
    if (writing && tries < MOST_TRIES) timer = setTimeout(() => openTranscript(tries + 1), AGAIN_MS);
  }

  async function transcriptByTool() {
    const turns = [];
    let part = null;
    for (let parts = 0; parts < MOST_PARTS; parts += 1) {
      const more = part?.next_cursor ? { cursor: part.next_cursor } : {};
      part = (await callTool("get_transcript", { call_id: id, max_tokens: TOKENS, ...more })).structuredContent;
      if (!isObject(part) || !Array.isArray(part.turns)) throw new Error("The answer holds no turns.");
      turns.push(...part.turns);
      if (!part.next_cursor) break;
    }
    return { ...part, turns };
  }

  /* Reads the sound, once. It comes as a blob, or as words that say why it does not. */
  function load() {
    loading ??= read().catch((error) => {
      silence = `Only the transcript can be shown. ${error.message}`;
      renderHead();
      throw error;
    });
    return loading;
  }

  async function read() {
    note("Loading the sound…");
    byId("play").disabled = true;
    const part = await readResource(uri("/recording"), SOUND_LIMIT_MS);
    const type = String(part.mimeType ?? "");
    if (typeof part.blob !== "string" || !/^audio\/[\w.+-]+$/.test(type)) {
      throw new Error(typeof part.text === "string" ? part.text : "The recording is no sound.");
    }
    await new Promise((resolve, reject) => {
      audio.addEventListener("loadedmetadata", resolve, { once: true });
      audio.addEventListener("error", () => reject(new Error("This host cannot play the sound.")), { once: true });
      audio.src = `data:${type};base64,${part.blob}`;
    });
    ready = true;
    remark();
    byId("play").disabled = false;
    byId("seek").max = String(audio.duration);
    follow();
  }

  // ---- what is shown

  const lengthOf = () =>
    (ready && count(audio.duration)) || count(call?.recording?.duration_seconds) || count(transcript?.duration_seconds);

  function renderHead() {
    const known = call ?? transcript ?? first;
    if (!known) return;
    const outcome = call?.outcome ?? call?.status;
    const result = call?.disposition ?? outcome;
    if (call) byId("name").textContent = `Call on ${moment(call.started_at ?? call.created_at)}`;
    byId("state").dataset.tone = TONES[outcome] ?? "";
    say("state", result ? plain(result) : "Call");
    byId("simulated").hidden = known.simulated !== true;
    const turns = count(transcript?.turn_count ?? call?.turn_count);
    say("facts", [
      call?.disposition && outcome ? plain(outcome).toLowerCase() : "",
      count(call?.duration_seconds) ? clock(call.duration_seconds) : "",
      turns ? `${turns} ${turns === 1 ? "turn" : "turns"}` : "",
      transcript?.language ?? "",
    ].filter(Boolean).join(" · "));
    renderSound();
    const questions = Array.isArray(call?.unanswered_questions) ? call.unanswered_questions : [];
    byId("questions-part").hidden = questions.length === 0;
    byId("questions").replaceChildren(...questions.map((question) => make("li", { dir: "auto" }, question)));
  }

  function renderSound() {
    silence ||= ABSENT[call?.recording?.status] ?? "";
    const hidden = silence !== "" || (call === null && !first?.resource_uri);
    if (hidden !== byId("sound").hidden) {
      byId("sound").hidden = hidden;
      renderTurns(); // they can be clicked where there is sound
    }
    remark();
    byId("length").textContent = clock(Math.round(lengthOf()));
    const stereo = (call?.recording?.channels ?? first?.channels) === 2;
    byId("stereo").textContent = stereo ? "Stereo: agent left, contact right" : "";
  }

  function renderTurns() {
    const turns = turnsOf();
    byId("words").hidden = turns.length === 0;
    const playable = !byId("sound").hidden;
    byId("turns").tabIndex = playable ? -1 : 0;
    byId("turns").replaceChildren(...turns.map((turn, index) => make("li", {}, lineOf(turn, index, playable))));
    byId("lanes").replaceChildren(...(playable ? turns.filter((turn) => turn.role !== "system").map(laneOf) : []));
    current = -1;
    follow();
    remark();
  }

  /* Says what is missing, if anything is. */
  function remark() {
    if (loading && !ready && !silence) return;
    const turns = turnsOf().length;
    const left = count(transcript?.turn_count) - turns;
    const writing = transcript?.status === "processing";
    const nothing = transcript && !writing && turns === 0 && call?.recording?.status !== "absent";
    note([
      refusal,
      silence,
      writing ? "The transcript is still being written." : "",
      nothing ? "There is no transcript: nobody spoke on this call." : "",
      turns > 0 && left > 0 ? `A part of the transcript: ${left} more turns are not shown here.` : "",
    ].filter(Boolean).join(" "), refusal ? "bad" : "");
  }

  const turnsOf = () => (Array.isArray(transcript?.turns) ? transcript.turns.filter(isObject) : []);

  function lineOf(turn, index, playable) {
    const role = ["agent", "system"].includes(turn.role) ? turn.role : "contact";
    const attributes = { class: "turn", "data-role": role };
    // One stop for the tab key; the arrow keys go on from there.
    if (playable) Object.assign(attributes, { type: "button", tabindex: index === 0 ? "0" : "-1" });
    const tool = isObject(turn.tool_call) ? turn.tool_call : null;
    const called = tool && `called ${tool.name}(${tool.arguments}), which ${tool.ok ? "answered" : "failed"}: ${tool.result}`;
    const said = called ?? `${turn.text ?? ""}${turn.interrupted ? " —" : ""}`;
    return make(playable ? "button" : "div", attributes, make("time", {}, clock(turn.start_seconds)),
      make("span", { class: "who" }, plain(role)), make("span", { class: "said", dir: "auto" }, said));
  }

  function laneOf(turn) {
    const lane = make("i", { "data-role": turn.role === "agent" ? "agent" : "contact" });
    const whole = lengthOf() || 1;
    lane.style.left = `${(100 * count(turn.start_seconds)) / whole}%`;
    lane.style.width = `${(100 * count(turn.end_seconds - turn.start_seconds)) / whole}%`;
    return lane;
  }

  // ---- playing

  /* Brings position, highlight and scroll to where the sound is. */
  function follow() {
    const [now, whole] = [audio.currentTime, lengthOf()];
    const seek = byId("seek");
    if (!ready) seek.max = String(whole || 1);
    if (!dragging) seek.value = String(now);
    seek.setAttribute("aria-valuetext", `${clock(now)} of ${clock(whole)}`);
    byId("now").textContent = clock(now);
    byId("length").textContent = clock(Math.round(whole));
    const turns = turnsOf();
    const found = ready ? turns.findLastIndex((turn) => turn.start_seconds <= now + 0.05) : -1;
    if (found === current) return;
    current = found;
    [...byId("turns").children].forEach(({ firstChild: line }, index) => {
      if (index === found) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    });
    [...byId("lanes").children].forEach((lane, index) => {
      lane.dataset.heard = index <= found ? "yes" : "no";
    });
    if (found >= 0) reveal(byId("turns").children[found]);
  }

  /* Scrolls the transcript alone: the host's page stays where the person has it. */
  function reveal(line) {
    const list = byId("turns");
    const top = line.offsetTop;
    const seen = top >= list.scrollTop && top + line.offsetHeight <= list.scrollTop + list.clientHeight;
    const smooth = matchMedia("(prefers-reduced-motion: no-preference)").matches;
    if (!seen) list.scrollTo({ top: top - list.clientHeight / 3, behavior: smooth ? "smooth" : "instant" });
  }

  async function play() {
    try {
      await load();
      await audio.play();
    } catch (error) {
      if (ready && error.name === "NotAllowedError") note("The sound is ready: press play.");
    }
  }

  function toggle() {
    if (audio.paused) play();
    else audio.pause();
  }

  async function jump(index) {
    const turn = turnsOf()[index];
    if (!turn) return;
    try {
      await load();
    } catch {
      return;
    }
    audio.currentTime = count(turn.start_seconds);
    await play();
  }

  const move = (seconds) => {
    if (ready) audio.currentTime = Math.min(Math.max(0, audio.currentTime + seconds), audio.duration);
  };

  function focusTurn(index) {
    const lines = [...byId("turns").querySelectorAll("button")];
    const wanted = lines[Math.min(Math.max(0, index), lines.length - 1)];
    if (!wanted) return;
    lines.forEach((line) => line.setAttribute("tabindex", line === wanted ? "0" : "-1"));
    wanted.focus({ preventScroll: true });
    reveal(wanted.parentElement);
  }

  byId("turns").addEventListener("click", (event) => {
    const line = event.target.closest("button");
    if (!line) return;
    const index = [...byId("turns").children].indexOf(line.parentElement);
    focusTurn(index);
    jump(index);
  });
  byId("turns").addEventListener("keydown", (event) => {
    const index = [...byId("turns").children].indexOf(event.target.closest("li"));
    const wanted = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: Infinity }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    focusTurn(wanted);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("sound").hidden) return;
    const sideways = { ArrowLeft: -JUMP_S, ArrowRight: JUMP_S }[event.key];
    const elsewhere = event.target.closest("button, select, input") === null;
    if (sideways && event.target !== byId("speed")) move(sideways);
    else if (event.key === "k" || (event.key === " " && elsewhere)) toggle();
    else return;
    event.preventDefault();
  });

  byId("play").addEventListener("click", toggle);
  byId("speed").addEventListener("change", (event) => {
    // The default holds for a sound that is loaded later.
    audio.defaultPlaybackRate = audio.playbackRate = Number(event.target.value);
  });
  byId("seek").addEventListener("input", async (event) => {
    dragging = true;
    try {
      await load();
      audio.currentTime = Number(event.target.value);
    } catch {
      // The note says why there is no sound.
    } finally {
      dragging = false;
    }
  });
  for (const happened of ["timeupdate", "seeked", "durationchange"]) audio.addEventListener(happened, follow);
  for (const happened of ["play", "pause", "ended"]) {
    audio.addEventListener(happened, () => {
      byId("play").dataset.playing = String(!audio.paused);
      byId("play").setAttribute("aria-label", audio.paused ? "Play" : "Pause");
    });
  }

  // ---- the host

  view.on("ui/notifications/tool-input", ({ arguments: given }) => open(given?.call_id ?? given?.call_uuid));
  view.on("ui/notifications/tool-result", async (result) => {
    first = isObject(result.structuredContent) ? result.structuredContent : null;
    if (result.isError) refusal = wordsOf(result) || "The tool failed.";
    if (first?.call_id && first.call_id !== id) await open(first.call_id);
    renderHead();
    remark();
    // Somebody asked for the sound itself: it is fetched without waiting for the play button.
    if (first?.resource_uri) load().catch(() => {});
  });
  view.on("ui/notifications/tool-cancelled", () => note("The call of the tool was cancelled."));
  view.on("ui/resource-teardown", () => {
    ended = true;
    clearTimeout(timer);
    audio.pause();
  });

  view.start("callwright-call-player", "Call player").catch((error) => {
    byId("player").setAttribute("aria-busy", "false");
    byId("state").textContent = "No host";
    note(`This page is shown by an assistant's host. ${error.message}`, "bad");
  });
})();
