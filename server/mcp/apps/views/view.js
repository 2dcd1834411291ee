"use strict";

/* What the pages share: the line to the host, the theme, elements made of text, and numbers and times in words.

   The line is JSON-RPC 2.0 over postMessage. Nothing is fetched from anywhere; whatever comes in is shown as text. */
const view = (() => {
  const PROTOCOL = "2026-01-26";
  const HANDSHAKE_MS = 10_000;
  const waiting = new Map();
  const listeners = new Map();
  let nextId = 1;
  let context = {};
  let capabilities = {};

  // ---- the line to the host

  function post(message) {
    // The origin of the host is not known here, and nothing that is sent is secret from it.
    window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  function request(method, params, limitMs = 20_000) {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error("The host did not answer in time."));
      }, limitMs);
      waiting.set(id, { resolve, reject, timer });
      post({ id, method, params });
    });
  }

  function on(method, listener) {
    listeners.set(method, listener);
  }

  window.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== window.parent || !isObject(message) || message.jsonrpc !== "2.0") return;
    if (typeof message.method === "string") hear(message);
    else settle(message);
  });

  function hear({ id, method, params }) {
    const listener = listeners.get(method);
    listener?.(isObject(params) ? params : {});
    if (id === undefined) return;
    if (listener || method === "ping") post({ id, result: {} });
    else post({ id, error: { code: -32601, message: "Method not found" } });
  }

  function settle({ id, result, error }) {
    const asked = waiting.get(id);
    if (!asked) return;
    waiting.delete(id);
    clearTimeout(asked.timer);
    if (isObject(error)) asked.reject(new Error(String(error.message ?? "The host refused.")));
    else asked.resolve(isObject(result) ? result : {});
  }

  function offers(capability) {
    // A host that says nothing about itself is tried; one that says what it can do is believed.
    return Object.keys(capabilities).length === 0 || isObject(capabilities[capability]);
  }

  /* Calls a tool of the server. Fails with the words of the tool where it refuses. */
  async function callTool(name, given, limitMs) {
    if (!offers("serverTools")) throw new Error("This host lets pages call no tools.");
    const result = await request("tools/call", { name, arguments: given }, limitMs);
    if (result.isError) throw new Error(wordsOf(result) || "The tool failed.");
    return result;
  }

  /* The first part of a resource of the server. */
  async function readResource(uri, limitMs) {
    if (!offers("serverResources")) throw new Error("This host lets pages read no resources.");
    const { contents } = await request("resources/read", { uri }, limitMs);
    const part = Array.isArray(contents) ? contents[0] : null;
    if (!isObject(part)) throw new Error("The resource is empty.");
    return part;
  }

  async function start(name, title) {
    on("ui/notifications/host-context-changed", take);
    const found = await request(
      "ui/initialize",
      {
        protocolVersion: PROTOCOL,
        appInfo: { name, title, version: "1.0.0" },
        appCapabilities: { availableDisplayModes: ["inline"] },
      },
      HANDSHAKE_MS,
    );
    if (isObject(found.hostCapabilities)) capabilities = found.hostCapabilities;
    take(isObject(found.hostContext) ? found.hostContext : {});
    post({ method: "ui/notifications/initialized", params: {} });
    reportSize();
  }

  function reportSize() {
    let last = "";
    new ResizeObserver(() => {
      const box = document.body.getBoundingClientRect();
      const size = { width: Math.ceil(box.width), height: Math.ceil(box.height) };
      if (JSON.stringify(size) === last) return;
      last = JSON.stringify(size);
      post({ method: "ui/notifications/size-changed", params: size });
    }).observe(document.body);
  }

  // ---- the theme

  const PALETTE = {
    "--page": "--color-background-primary",
    "--sunk": "--color-background-secondary",
    "--text": "--color-text-primary",
    "--quiet": "--color-text-secondary",
    "--line": "--color-border-primary",
  };

  function take(changed) {
    context = { ...context, ...changed };
    const root = document.documentElement;
    if (context.theme === "light" || context.theme === "dark") root.style.colorScheme = context.theme;
    const given = isObject(context.styles?.variables) ? context.styles.variables : {};
    // All of the palette or none: the host's text on a background of ours may not be readable.
    const whole = Object.values(PALETTE).every((name) => CSS.supports("color", String(given[name])));
    for (const [own, name] of Object.entries(PALETTE)) {
      if (whole) root.style.setProperty(own, given[name]);
      else root.style.removeProperty(own);
    }
    const font = given["--font-sans"];
    if (typeof font === "string" && CSS.supports("font-family", font)) root.style.setProperty("--sans", font);
  }

  // ---- elements

  const byId = (id) => document.getElementById(id);

  /* An element with these attributes. Children are elements or text, and text stays text. */
  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
    return made;
  }

  /* Sets the text of an element, and hides it where there is none. */
  function say(id, words) {
    const found = byId(id);
    if (found.textContent !== (words ?? "")) found.textContent = words ?? "";
    found.hidden = !words;
  }

  function note(words, tone = "") {
    const found = byId("note");
    found.dataset.tone = tone;
    if (found.textContent !== words) found.textContent = words;
  }

  // ---- words

  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const count = (value) => (Number.isFinite(value) && value > 0 ? value : 0);

  function wordsOf(result) {
    const parts = Array.isArray(result.content) ? result.content : [];
    return parts.filter((part) => part?.type === "text").map((part) => String(part.text)).join("\n");
  }

  /* `no_answer` becomes `No answer`. */
  function plain(name) {
    const words = String(name).replaceAll("_", " ").trim();
    return words.charAt(0).toUpperCase() + words.slice(1);
  }

  function local(make) {
    try {
      return make(typeof context.locale === "string" ? context.locale : undefined);
    } catch {
      return make(undefined); // a locale or a time zone that this browser does not know
    }
  }

  const number = (value) => local((locale) => new Intl.NumberFormat(locale).format(count(value)));

  function money(value) {
    const amount = Number(value?.amount ?? 0);
    const digits = Math.abs(amount) < 0.1 && amount !== 0 ? 4 : 2; // a minute costs less than a cent
    const digitsOf = { minimumFractionDigits: 2, maximumFractionDigits: digits };
    const currency = String(value?.currency ?? "USD");
    const plain = () => local((locale) => new Intl.NumberFormat(locale, digitsOf).format(amount));
    if (!/^[A-Za-z]{3}$/.test(currency)) return `${plain()} ${currency}`.trim(); // no code of ISO 4217: Intl would throw
    return local((locale) => new Intl.NumberFormat(locale, { style: "currency", currency, ...digitsOf }).format(amount));
  }

  function moment(value, options = { dateStyle: "medium", timeStyle: "short" }) {
    const found = new Date(value);
    if (!value || Number.isNaN(found.getTime())) return "";
    const timeZone = typeof context.timeZone === "string" ? context.timeZone : undefined;
    return local((locale) => new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(found));
  }

  /* Seconds as `1:04`. */
  function clock(seconds) {
    const whole = Math.floor(count(seconds));
    const rest = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
    return whole >= 3_600 ? `${Math.floor(whole / 3_600)}:${rest.join(":")}` : `${Math.floor(whole / 60)}:${rest[1]}`;
  }

  /* Seconds as `4 min`. */
  function span(seconds) {
    if (seconds < 90) return `${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
    if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
    if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
    return `${Math.round(seconds / 86_400)} days`;
  }

  return {
    byId, callTool, clock, count, isObject, make, moment, money, note, number, offers, on, plain, readResource, say,
    span, start, wordsOf,
  };
})();
