"use strict";

/* What pages do beyond forms and links. Without it everything but live pages and seeking in a recording works. */
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  /* Times in the reader's own zone; the callee's stands beside it where it matters. */
  const own = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  function showTimes(root) {
    for (const time of all("time[datetime]", root)) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.valueOf())) continue;
      time.title = `${time.dateTime} (UTC)`;
      time.textContent = ("exact" in time.dataset ? exact : own).format(at);
    }
  }

  function copyFrom(button) {
    const from = document.querySelector(button.dataset.copy);
    if (!from) return;
    const done = () => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    };
    navigator.clipboard?.writeText(from.textContent).then(done, () => selectText(from));
    if (!navigator.clipboard) selectText(from);
  }

  function selectText(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  /* How many questions wait, beside their entry of the navigation. */
  function showWaiting(list) {
    const count = document.getElementById("waiting");
    if (!list || !count) return;
    count.textContent = list.dataset.waiting;
    count.hidden = list.dataset.waiting === "0";
  }

  /* A campaign as it runs. */
  function follow(board) {
    const note = document.getElementById("live-note");
    const say = (words) => {
      if (!note) return;
      note.textContent = words;
      note.hidden = !words;
    };
    let isShown = false;
    let changedAt = -Infinity;
    board.addEventListener("submit", (event) => {
      if (performance.now() - changedAt > 1000) return; // what was aimed at may have moved under the finger
      event.preventDefault();
      event.stopPropagation();
      say("The questions have just changed. Look again before you answer.");
    });
    /* A service that stands still says nothing, and a proxy may end a stream that is opened again at once. */
    let source;
    let timer;
    const waits = (milliseconds) => {
      clearTimeout(timer);
      timer = setTimeout(
        () => say("The service does not answer. This page goes on by itself once it does."),
        milliseconds,
      );
    };
    const heard = () => {
      say("");
      waits(25000);
    };
    const stop = () => {
      clearTimeout(timer);
      source?.close();
    };
    const show = (event) => {
      if (board.querySelector(":active")) return; // a button under a finger stays; the next reading is a second away
      const had = board.contains(document.activeElement) ? document.activeElement.id : "";
      board.innerHTML = event.data; // made by the service's own template, which escapes what people said
      showTimes(board);
      if (had) document.getElementById(had)?.focus({ preventScroll: true });
      showWaiting(board.querySelector("[data-waiting]"));
      if (isShown) changedAt = performance.now();
      isShown = true;
    };
    const ended = (event) => {
      stop();
      if (event.data === "login") say("You are logged out. Open this page again to log in.");
      else if (event.data === "gone") say("This is not there any more.");
      else location.reload();
    };
    /* A browser opens a stream again that broke, but not one that was answered with an error, or with the login. */
    const again = async () => {
      const ends = new AbortController();
      try {
        const answer = await fetch(board.dataset.live, { redirect: "manual", signal: ends.signal });
        if (answer.type === "opaqueredirect") return ended({ data: "login" });
        if (answer.ok) return open();
      } catch {
        // nobody answers yet
      } finally {
        ends.abort();
      }
      setTimeout(again, 3000);
    };
    function open() {
      source = new EventSource(board.dataset.live);
      source.addEventListener("board", show);
      source.addEventListener("ended", ended);
      for (const kind of ["board", "still"]) source.addEventListener(kind, heard);
      source.onopen = heard;
      source.onerror = () => {
        waits(4000);
        if (source.readyState === EventSource.CLOSED) setTimeout(again, 3000);
      };
    }
    waits(25000);
    open();
    addEventListener("pagehide", stop);
    addEventListener("pageshow", (event) => event.persisted && open());
  }

  /* The transcript follows the sound. */
  function play(sound) {
    const turns = all(".turn[data-start]");
    const seek = (seconds) => {
      sound.currentTime = seconds;
      sound.play().catch(() => {});
    };
    for (const button of all("[data-seek]")) button.addEventListener("click", () => seek(Number(button.dataset.seek)));
    sound.addEventListener("timeupdate", () => {
      const at = sound.currentTime;
      for (const turn of turns) {
        const now = at >= Number(turn.dataset.start) && at < Number(turn.dataset.end);
        if (now !== turn.hasAttribute("aria-current")) {
          if (now) turn.setAttribute("aria-current", "true");
          else turn.removeAttribute("aria-current");
        }
      }
    });
  }

  /* The code of a link stands behind #, which no server and no log sees. */
  function logIn(form) {
    const code = location.hash.slice(1);
    if (!code) {
      const further = document.querySelector("[data-go-on]"); // who is logged in has nothing to do here
      if (further) location.replace(further.href);
      return;
    }
    history.replaceState(null, "", location.pathname + location.search);
    form.elements.code.value = code;
    form.requestSubmit();
  }

  /* The voice that is chosen can be heard beside its field. */
  function hear(player) {
    const field = player.closest("form").elements.voice_id;
    const show = () => (player.src = `/agents/voices/${field.value}.mp3`);
    player.hidden = false;
    field.addEventListener("change", show);
    show();
  }

  function begin() {
    showTimes(document);
    const voice = document.querySelector("[data-voice]");
    if (voice) hear(voice);
    const form = document.querySelector("form[data-login]");
    if (form) {
      logIn(form);
      addEventListener("hashchange", () => logIn(form)); // a link that is opened where this page is already
    }
    const board = document.querySelector("[data-live]");
    if (board) follow(board);
    const sound = document.getElementById("sound");
    if (sound) play(sound);
    document.addEventListener("click", (event) => {
      const button = event.target.closest?.("[data-copy]");
      if (button) copyFrom(button);
    });
    document.addEventListener("submit", (event) => {
      if (event.target.method !== "post") return;
      const button = event.submitter;
      if (event.target.dataset.sent) event.preventDefault(); // a double click sends a form once
      event.target.dataset.sent = "yes";
      setTimeout(() => button && (button.disabled = true));
    });
    addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      for (const sent of all("form[data-sent]")) delete sent.dataset.sent;
      for (const button of all("button:disabled")) button.disabled = false;
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const field = all("[data-search]").find((one) => one.offsetParent);
        event.preventDefault();
        if (field) field.select();
        else location.href = "/search";
      }
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
