"use strict";

/* What somebody typed into a form stays in this tab until the form has arrived: when the service does not answer, or the
   session has ended meanwhile, the page offers it again. No password, file or code of a login is kept, and nothing is offered to
   another user. */
(() => {
  const KEY = "callwright-typed";
  const here = location.pathname;
  const user = document.body.dataset.user;

  const isChoice = (field) => field.type === "checkbox" || field.type === "radio";

  const fieldsOf = (form) =>
    [...form.elements].filter(
      (one) =>
        one.name &&
        !["hidden", "password", "file", "submit", "button"].includes(one.type) &&
        one.autocomplete !== "one-time-code",
    );

  function valueOf(field) {
    if (isChoice(field)) return field.checked;
    if (field.multiple) return [...field.selectedOptions].map((one) => one.value);
    return field.value;
  }

  function fill(field, value) {
    if (isChoice(field)) field.checked = value;
    else if (field.multiple) for (const one of field.options) one.selected = value.includes(one.value);
    else field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  const addressOf = (form) => form.getAttribute("action") ?? here;
  /* A page may have several forms with one address. */
  const alike = (address) => [...document.forms].filter((one) => one.method === "post" && addressOf(one) === address);
  const typed = (form) => fieldsOf(form).map((one) => [one.name, one.value, valueOf(one)]);
  /* Of several choices, each has the name of all. */
  const matches = (field, name, value) => field.name === name && (!isChoice(field) || field.value === value);

  function kept() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (addressOf(form) === "/logout") return sessionStorage.removeItem(KEY);
    if (form.querySelector("[type=password]") || !fieldsOf(form).length) return;
    const address = addressOf(form);
    const place = alike(address).indexOf(form);
    const once = form.elements.once?.value;
    sessionStorage.setItem(KEY, JSON.stringify({ user, at: here, address, place, once, fields: typed(form) }));
  });

  const found = kept();
  if (!found) return;
  if (!user || document.querySelector("[data-not-done]")) {
    /* The service could not do it, or asks who it is: the text waits, whatever pages come in between. */
    return sessionStorage.setItem(KEY, JSON.stringify({ ...found, waits: true }));
  }
  const [navigation] = performance.getEntriesByType("navigation");
  const cameBack = navigation.type === "back_forward" || navigation.type === "reload";
  const came = document.referrer && new URL(document.referrer).pathname;
  /* From the form's own page without going back: it has arrived, or the page shows what is wrong and has kept the text. */
  const hasArrived = !found.waits && (found.at !== here || (!cameBack && came === here));
  if (found.user !== user || hasArrived) return sessionStorage.removeItem(KEY);
  if (found.at !== here) return;
  const form = alike(found.address)[found.place];
  if (!form || JSON.stringify(typed(form)) === JSON.stringify(found.fields)) return;
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("role", "status");
  note.append("What you typed here last was not sent, or nobody answered. ");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Fill it in again";
  button.addEventListener("click", () => {
    for (const [name, value, content] of found.fields) {
      const field = fieldsOf(form).find((one) => matches(one, name, value));
      if (field) fill(field, content);
    }
    /* Perhaps it has arrived and only the answer was lost: sent again as it was, it counts once. Changed, it is another. */
    const once = form.elements.once;
    if (once && found.once) {
      const own = once.value;
      once.value = found.once;
      form.addEventListener("input", () => (once.value = own), { once: true });
    }
    sessionStorage.removeItem(KEY);
    note.remove();
    fieldsOf(form)[0]?.focus();
  });
  note.append(button);
  form.before(note);
})();
