"use strict";

/* Passkeys: the browser makes one, or answers with one. Loaded only where one logs in and where one adds them. */
(() => {
  const bytes = (text) => {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
  };
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const named = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

  async function asked(address, form) {
    const answer = await fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (answer.redirected) throw new Error("You are logged out. Open this page again to log in.");
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.message);
    return found;
  }

  async function made(form) {
    const options = await asked("/settings/account/passkeys/options", form);
    const publicKey = {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: named(options.excludeCredentials),
    };
    const { rawId, response } = await navigator.credentials.create({ publicKey });
    return {
      rawId,
      response: { clientDataJSON: text(response.clientDataJSON), attestationObject: text(response.attestationObject) },
    };
  }

  async function proved(form) {
    const options = await asked("/login/passkey/options", form);
    const publicKey = { ...options, challenge: bytes(options.challenge), allowCredentials: named(options.allowCredentials) };
    const { rawId, response } = await navigator.credentials.get({ publicKey });
    return {
      rawId,
      response: {
        clientDataJSON: text(response.clientDataJSON),
        authenticatorData: text(response.authenticatorData),
        signature: text(response.signature),
        userHandle: response.userHandle ? text(response.userHandle) : null,
      },
    };
  }

  const WORDS = {
    NotAllowedError: "No passkey was used. Try again.",
    InvalidStateError: "This device has a passkey for you here already.",
    SecurityError: "Passkeys of this service work at its public address alone. Open that one.",
  };

  function use(form, answering) {
    const button = form.querySelector("button");
    const said = form.querySelector("[data-said]");
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      event.stopPropagation();
      button.disabled = true;
      said.textContent = "";
      try {
        const { rawId, response } = await answering(form);
        const id = text(rawId);
        form.elements.credential.value = JSON.stringify({ id, rawId: id, type: "public-key", response });
        form.submit();
      } catch (error) {
        said.textContent = WORDS[error.name] ?? error.message;
        button.disabled = false;
      }
    });
  }

  if (!window.PublicKeyCredential) return;
  const add = document.querySelector("form[data-passkey-add]");
  const logIn = document.querySelector("form[data-passkey-login]");
  if (add) use(add, made);
  if (logIn) use(logIn, proved);
  for (const note of document.querySelectorAll("[data-no-passkeys]")) note.hidden = true;
})();
