"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const sourceWords = data.source.map((word) => make("span", at("source"), word));
const targetWords = data.words.map((word, index) => {
  const span = make("span", at("target"), word.text);
  span.dataset.word = index;
  span.tabIndex = 0;
  span.addEventListener("mouseenter", () => hover(index));
  span.addEventListener("mouseleave", () => hover(null));
  span.addEventListener("focus", () => hover(index));
  span.addEventListener("blur", () => hover(null));
  span.addEventListener("click", () => go(word.step));
  return span;
});
at("about").textContent = `score ${data.score.toFixed(4)} · ${data.steps.length} rules · ${data.languages.join(" to ")} · hover a word for its source words, click it for its rule`;

let current = 0;
let held = null;
const heads = new Set(data.steps.map((step) => step.node));
const tree = drawTree(at("tree"), data, (node) => {
  const step = data.steps.findIndex((step) => step.node === node);
  if (step >= 0) go(step);
});

drawStructure(at("structure"), data, (word) => go(data.words[word].step));
if (data.structure) at("preferred").textContent = `${data.structure.value.toFixed(4)} in all; ${data.structure.text}`;

// What is marked while a target word is pointed at: its source words, itself, and the words of its rule.
function hover(word) {
  held = word;
  mark();
}
function mark() {
  const step = held === null ? data.steps[current] : data.steps[data.words[held].step];
  const linked = held === null ? [] : data.words[held].links;
  sourceWords.forEach((span, index) => {
    span.classList.toggle("linked", linked.includes(index));
    span.classList.toggle("own", !!step && step.source.includes(index));
  });
  const own = new Set(step ? step.target.filter((piece) => "word" in piece).map((piece) => piece.word) : []);
  targetWords.forEach((span, index) => {
    span.classList.toggle("own", own.has(index));
    span.classList.toggle("held", index === held);
  });
  tree.show(step, heads, linked, held === null);
}

const rows = data.steps.map((step, index) => {
  const row = make("li", at("steps"), step.rule, "rule");
  row.style.marginLeft = Math.min(step.depth, 16) * 0.8 + "rem";
  row.addEventListener("click", () => go(index));
  return row;
});

function go(index) {
  if (!data.steps.length) return;
  current = Math.max(0, Math.min(data.steps.length - 1, index));
  at("where").textContent = `step ${current + 1} of ${data.steps.length}`;
  at("first").disabled = at("back").disabled = current === 0;
  at("last").disabled = at("next").disabled = current === data.steps.length - 1;
  rows.forEach((row, place) => row.classList.toggle("now", place === current));
  showForm(at("form"), data, current + 1);
  showRule(at("step"), data, current);
  mark();
}
at("first").addEventListener("click", () => go(0));
at("back").addEventListener("click", () => go(current - 1));
at("next").addEventListener("click", () => go(current + 1));
at("last").addEventListener("click", () => go(data.steps.length - 1));
document.addEventListener("keydown", (event) => {
  const keys = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: data.steps.length - 1 };
  if (event.key in keys && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    go(keys[event.key]);
  }
});

showWhole(at("features"), at("second"), data);
showSearch(at("search"), data);
go(0);
