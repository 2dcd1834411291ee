"use strict";
// Search: what has every word stays. Links open what they lead to, because entries may be closed.
const label = document.querySelector(".search");
const input = label.querySelector("input");
const status = document.querySelector(".found");
const operations = [...document.querySelectorAll("section.op")];
const entries = [...document.querySelectorAll("details.entry")];
const chapters = [...document.querySelectorAll(".chapter")];
const contents = document.querySelector("nav details");

/** Hides those in which a word is missing; the number of the others. */
function keep(parts, words, textOf) {
  let count = 0;
  for (const part of parts) {
    part.hidden = !words.every((word) => textOf(part).includes(word));
    count += part.hidden ? 0 : 1;
  }
  return count;
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = keep(operations, words, (part) => part.dataset.words);
  const others = keep(entries, words, (part) => part.firstElementChild.textContent.toLowerCase());
  for (const chapter of chapters) {
    chapter.hidden = words.length > 0 && !chapter.querySelector(".op:not([hidden]), .entry:not([hidden])");
    document.querySelector(`nav .noun a[href="#${chapter.querySelector("h2").id}"]`).parentElement.hidden = chapter.hidden;
  }
  for (const item of document.querySelectorAll("nav li")) item.hidden = document.getElementById(item.dataset.for).hidden;
  document.querySelector("main > header").hidden = words.length > 0;
  status.hidden = words.length === 0;
  const counted = [`${found} of ${operations.length} operations`, `${others} events, problems and objects`];
  status.textContent = found + others === 0 ? "Nothing has all of these words." : counted.join(", ");
}

function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  if (target.closest("[hidden]") !== null) {
    input.value = "";
    search();
  }
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
}

label.hidden = false;
input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  input.value = "";
  search();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target === input) return;
  event.preventDefault();
  input.focus();
});
addEventListener("hashchange", reveal);
if (matchMedia("(max-width: 899px)").matches) {
  contents.open = false;
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") !== null) contents.open = false;
  });
}
if (location.hash) reveal();
