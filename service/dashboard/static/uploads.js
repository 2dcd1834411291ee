"use strict";

/* Uploading a list of people, which goes on after a connection that broke, and imports that are followed to their end. */
(() => {
  const PART = 8 * 1024 * 1024; // bytes of one request
  const WAITS_S = [1, 2, 4, 8, 15, 30, 30, 30, 30, 30, 30, 30]; // before each new try; four minutes in all
  const SILENT_MS = 60000; // after which a request that says nothing is broken
  const LOST = "The connection is broken, or the service does not answer.";

  /* What a new try may mend. */
  class Broken extends Error {}
  /* What no new try mends, in words for the page. */
  class Stopped extends Error {
    constructor(words, { isLoggedOut = false, isGone = false } = {}) {
      super(words);
      this.isLoggedOut = isLoggedOut;
      this.isGone = isGone;
    }
  }

  /* A wait, which ends earlier once the browser is online again. */
  const pause = (seconds) =>
    new Promise((go) => {
      const done = () => {
        clearTimeout(timer);
        removeEventListener("online", done);
        go();
      };
      const timer = setTimeout(done, seconds * 1000);
      addEventListener("online", done);
    });

  const megabytes = (size) => {
    const [shown, unit] = size >= 100000 ? [size / 1e6, "MB"] : [Math.ceil(size / 1000), "kB"];
    return `${shown.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`;
  };

  /* The words of an answer: of the API, of a page for people, or none. */
  function wordsOf(text) {
    try {
      const found = JSON.parse(text);
      return found.message ?? found.error?.message ?? "";
    } catch {
      const note = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]");
      return note?.textContent.trim() ?? "";
    }
  }

  function checked(status, text) {
    if (status < 400) return;
    const words = wordsOf(text);
    if (status >= 500 || status === 408 || status === 429) throw new Broken(words || LOST);
    throw new Stopped(words || `The service refuses this (${status}).`, { isGone: status === 404 });
  }

  /* What the service answers as JSON. */
  async function asked(address, options = {}) {
    let answer, text;
    try {
      answer = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(SILENT_MS), ...options });
      text = await answer.text();
    } catch {
      throw new Broken(LOST);
    }
    if (answer.redirected && new URL(answer.url).pathname === "/login") {
      throw new Stopped("You are logged out.", { isLoggedOut: true });
    }
    checked(answer.status, text);
    try {
      return JSON.parse(text);
    } catch {
      throw new Broken(LOST);
    }
  }

  /* Does something until it is done, with a bounded number of new tries in a row that bring nothing further. `attempt`
     gets a function that it calls when it has come further; `waiting` shows words. */
  async function patiently(attempt, waiting) {
    let tries = 0;
    for (;;) {
      try {
        return await attempt(() => (tries = 0));
      } catch (error) {
        if (!(error instanceof Broken) || tries >= WAITS_S.length) throw error;
        const seconds = WAITS_S[tries];
        tries += 1;
        waiting(`${error.message} Trying again in ${seconds === 1 ? "a second" : `${seconds} seconds`}.`);
        await pause(seconds);
      }
    }
  }

  /* Sends a part of a file; how many bytes have arrived then, and whether that is all of it. */
  const put = (address, file, begin, showSent) =>
    new Promise((done, refused) => {
      const part = file.slice(begin, begin + PART);
      const range = part.size ? `${begin}-${begin + part.size - 1}` : "*"; // all is there: asks to complete it
      const request = new XMLHttpRequest();
      let timer;
      const heard = () => {
        clearTimeout(timer);
        timer = setTimeout(() => request.abort(), SILENT_MS);
      };
      request.open("PUT", address);
      request.setRequestHeader("Content-Range", `bytes ${range}/${file.size}`);
      request.upload.onprogress = (event) => {
        heard();
        showSent(begin + event.loaded);
      };
      request.onloadend = () => clearTimeout(timer);
      request.onload = () => {
        try {
          checked(request.status, request.responseText);
          done({ arrived: Number(request.getResponseHeader("Upload-Offset")), isComplete: request.status === 200 });
        } catch (error) {
          refused(error);
        }
      };
      request.onerror = request.onabort = () => refused(new Broken(LOST));
      heard();
      request.send(part);
    });

  /* Follows an import to its end. `show` shows what it does. */
  async function follow(address, show, waiting) {
    for (let polls = 0; ; polls += 1) {
      const found = await patiently(() => asked(address), waiting);
      show(found);
      if (found.is_over) return found;
      await pause(polls < 20 ? 0.5 : 2);
    }
  }

  function upload(form) {
    const at = form.dataset.upload;
    const field = form.querySelector("input[type=file]");
    const bar = form.querySelector("progress");
    const said = form.querySelector("[data-said]");
    const button = form.querySelector("button");
    const login = form.querySelector("[data-login]");
    const refused = form.querySelector("[data-refused]");
    let open = null; // the upload of this page that has not ended, with its file
    let once = ""; // so that a beginning whose answer is lost makes one import
    let stage = ""; // begin, send or follow: what is done right now
    const say = (words, tone = "") => {
      said.textContent = words;
      said.className = tone ? "note" : "";
      said.dataset.tone = tone;
    };
    const show = (percent, words) => {
      bar.hidden = false;
      bar.value = percent;
      say(words);
    };
    const waiting = (words) => say(words, "warm");
    const isSame = (file) =>
      open.file.name === file.name && open.file.size === file.size && open.file.lastModified === file.lastModified;

    async function begin(file) {
      say("The import is begun.");
      once ||= [...crypto.getRandomValues(new Uint32Array(3))].map((part) => part.toString(16).padStart(8, "0")).join("");
      let begun;
      const fields = new URLSearchParams(new FormData(form));
      fields.set("once", once);
      try {
        begun = await patiently(() => asked(`${at}/upload`, { method: "POST", body: fields }), waiting);
        once = "";
      } catch (error) {
        if (error instanceof Stopped) once = ""; // it was refused: another try is another beginning
        throw error;
      }
      open = { file, upload: begun.upload, progress: `${at}/imports/${begun.import_id}`, id: begun.import_id };
    }

    /* Another file than that of the open upload: nobody waits for the older one any more. */
    async function giveUp() {
      const { name } = open.file;
      let data;
      try {
        ({ data } = await patiently(() => asked(open.upload), waiting));
      } catch (error) {
        if (!error.isGone) throw error;
        open = null; // it has ended
        return;
      }
      if (data.is_complete) {
        open = null;
        throw new Stopped(`${name} had arrived as a whole and is imported. Press Upload again to import this file too.`);
      }
      await patiently(async () => {
        const answer = await end();
        if (answer === null || answer.status >= 500) throw new Broken(LOST);
      }, waiting);
      open = null;
    }

    /* Ends the open upload with its import, also while the page is left. */
    const end = () => fetch(open.upload, { method: "DELETE", keepalive: true }).catch(() => null);

    /* `isAsked`: what has arrived is asked before anything is sent. */
    async function send(file, isAsked) {
      let arrived = 0;
      const showSent = (size) =>
        show((50 * size) / file.size, `The file is being sent: ${megabytes(size)} of ${megabytes(file.size)}.`);
      await patiently(async (cameFurther) => {
        const before = arrived;
        const note = (state) => {
          if (state.arrived > before) cameFurther();
          arrived = state.arrived;
          return state.isComplete;
        };
        if (isAsked) {
          const { data } = await asked(open.upload);
          if (note({ arrived: data.bytes_received, isComplete: data.is_complete })) return;
        }
        isAsked = true;
        showSent(arrived);
        await file.slice(0, 1).arrayBuffer().catch(() => {
          throw new Stopped("The file was changed or moved meanwhile. Choose it again.");
        });
        while (!note(await put(open.upload, file, arrived, showSent)));
      }, (words) => waiting(arrived ? `${words} ${megabytes(arrived)} of ${megabytes(file.size)} have arrived.` : words));
    }

    const followed = (importId, progress) =>
      follow(progress, (found) => show(50 + found.percent / 2, found.words), waiting).then((found) => {
        const isFailed = found.status === "failed";
        say(isFailed ? found.words : `Done. ${found.words}`, isFailed ? "bad" : found.added ? "good" : "warm");
        refused.hidden = !found.refused;
        refused.querySelector("a").href = `${at}/rejects?import_id=${importId}`;
      });

    async function run(file) {
      stage = "begin";
      if (open && !isSame(file)) await giveUp();
      const isNew = !open;
      if (isNew) await begin(file);
      const { id, progress } = open;
      stage = "send";
      try {
        await send(file, !isNew);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        if (!error.isGone) {
          await end(); // what is refused is not waited for
          open = null;
          throw error;
        } // else somebody has ended it, or it was waited for too long: its end says so
      }
      open = null;
      stage = "follow";
      await followed(id, progress);
    }

    const AFTER = {
      begin: "Nothing was sent. Press Upload to try again.",
      send: "What has arrived is kept. Press Upload to go on with the same file.",
      follow: "The file has arrived, and its import goes on by itself.",
    };
    function failed(error) {
      login.hidden = !error.isLoggedOut;
      if (error.isLoggedOut) {
        const what = stage === "follow" ? AFTER.follow : "Nothing was sent. Log in, open this page again, and upload the file.";
        return say(`${error.message} ${what}`, "bad");
      }
      if (error instanceof Stopped) return say(error.message, "bad");
      if (error instanceof Broken) return say(`${error.message} ${AFTER[stage]}`, "bad");
      say("This page failed. Open it again.", "bad");
      throw error;
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      event.stopPropagation();
      const [file] = field.files;
      if (!file || button.disabled) return;
      refused.hidden = login.hidden = true;
      if (!file.size) return say(`${file.name} is empty: nothing was begun. Choose the file with your list.`, "bad");
      if (file.size > Number(form.dataset.most)) {
        const most = `${megabytes(file.size)}, and a list has at most ${form.dataset.mostWords}`;
        return say(`${file.name} has ${most}: nothing was begun. Pack it with gzip, or cut it in pieces.`, "bad");
      }
      button.disabled = field.disabled = true;
      bar.value = 0;
      try {
        await run(file);
      } catch (error) {
        failed(error);
      } finally {
        button.disabled = field.disabled = false;
        stage = "";
      }
    });
    addEventListener("beforeunload", (event) => {
      if (stage === "send") event.preventDefault(); // the browser asks whether to leave
    });
    addEventListener("pagehide", () => {
      if (open) end(); // nobody can go on with it: without the page its address is not known
    });
    const over = (isOver) => (event) => {
      event.preventDefault();
      form.toggleAttribute("data-over", isOver);
    };
    form.addEventListener("dragover", over(true));
    form.addEventListener("dragleave", over(false));
    form.addEventListener("drop", (event) => {
      over(false)(event);
      if (button.disabled) return;
      const { files } = event.dataTransfer;
      if (files.length > 1) return say(`You dropped ${files.length} files. One list at a time: drop one of them.`, "bad");
      if (!files.length) return say("That is no file. Drop a CSV or XLSX file.", "bad");
      field.files = files;
      say(`Press Upload to send ${files[0].name}.`);
    });
  }

  /* An import that has not ended, on the page of its audience. Once it has, the page shows what it brought. */
  async function watch(section) {
    const said = section.querySelector("[data-said]");
    const bar = section.querySelector("progress");
    const isHere = !document.querySelector("form[data-upload]"); // a page with a chosen file is not opened anew
    let status = "";
    try {
      await follow(
        section.dataset.import,
        (found) => {
          if (isHere && status && status !== found.status) location.reload(); // what can be done is another thing
          status = found.status;
          said.textContent = found.words;
          if (bar) bar.value = found.percent;
        },
        (words) => (said.textContent = words),
      );
      if (isHere) location.reload();
      else section.querySelectorAll("p.quiet, p:has(.button), progress").forEach((part) => part.remove());
    } catch (error) {
      said.textContent = error.isLoggedOut ? "You are logged out. Open this page again to log in." : error.message;
    }
  }

  function begin() {
    const form = document.querySelector("form[data-upload]");
    if (form) upload(form);
    for (const section of document.querySelectorAll("[data-import]")) watch(section);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
