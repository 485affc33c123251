"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const make = (name, parent, text, kind) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return parent.appendChild(element);
};
const number = (value) => (value > 0 ? "+" : "") + value.toFixed(4);
const kinds = {
  table: "", overlay: "from the overlay", term: "from the glossary, or kept as it is",
  copy: "no rule matches: words are copied, parts stay in source order", glue: "parts joined",
};

// Bars for [name, number, title] rows, with the sum of a list below.
function bars(parent, rows, sum) {
  const grid = make("div", parent, undefined, "bars");
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row[1])));
  for (const [name, value, title] of rows) {
    make("span", grid, name, "name").title = title || "";
    const bar = make("i", make("span", grid, undefined, "bar"), undefined, value > 0 ? "plus" : "");
    bar.style.width = (50 * Math.abs(value)) / most + "%";
    make("span", grid, number(value), "number").title = title || "";
  }
  if (sum !== undefined) {
    make("span", grid, sum[0], "sum");
    make("span", grid, "", "sum");
    make("span", grid, number(sum[1]), "number sum");
  }
}
const meaning = (name) => (data.meanings[name] ? `${data.meanings[name]}: ` : "");
const parts = (list) => list.map((part) => [part.feature, part.score, `${meaning(part.feature)}${part.value.toFixed(4)} × ${part.weight.toFixed(4)}`]);
const decided = (list) => list.map((one) => [one.feature, one.difference, `${meaning(one.feature)}${one.score.toFixed(4)} against ${one.other.toFixed(4)}`]);

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

// The leftmost derivation after so many steps: words that are there, and places that are still open.
function showForm(count) {
  const form = at("form");
  form.replaceChildren();
  const open = [{ step: 0 }];
  while (open.length) {
    const piece = open.pop();
    if ("word" in piece) {
      const span = make("span", form, data.words[piece.word].text);
      if (data.words[piece.word].step === count - 1) span.className = "now";
    } else if (piece.step < count) {
      open.push(...data.steps[piece.step].target.slice().reverse());
    } else {
      const node = data.tree[data.steps[piece.step].node];
      make("span", form, node ? node.label : "…", "open");
    }
  }
}

function showStep(step, index) {
  const box = at("step");
  box.replaceChildren();
  make("h2", box, `Rule ${index + 1} of ${data.steps.length}`);
  make("p", box, step.rule, "rule");
  const about = [];
  if (kinds[step.kind]) about.push(kinds[step.kind]);
  if (step.order) about.push(`${step.order.text} (${step.order.orientation})`);
  if (step.count) about.push(`seen ${+step.count[0].toFixed(2)} times, its source side ${+step.count[1].toFixed(2)} times`);
  if (about.length) make("p", box, about.join("; "), "quiet");
  bars(box, parts(step.parts), ["adds", step.score]);
  const list = make("ul", box, undefined, "pairs");
  for (const line of step.lines) {
    const item = make("li", list);
    make("span", item, `line ${line.number}`, "quiet");
    for (const [words, marks] of [[line.source, line.source_marks], [line.target, line.target_marks]]) {
      const text = make("div", item);
      words.forEach((word, place) => {
        make(marks.includes(place) ? "b" : "span", text, word);
        text.append(" ");
      });
    }
  }
  if (!step.lines.length) make("li", list, "no training lines", "quiet");
  const other = step.competitor;
  if (other) {
    const more = make("details", box);
    more.open = true;
    make("summary", more, other.difference >= 0 ? `the best other rule here: ${other.difference.toFixed(4)} less` : `another rule here that the search missed: ${(-other.difference).toFixed(4)} more`);
    make("p", more, other.rule, "rule");
    make("p", more, other.words.join(" "), "quiet");
    bars(more, decided(other.decided), ["difference", other.difference]);
  }
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
  showForm(current + 1);
  showStep(data.steps[current], current);
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

make("h2", at("features"), "What makes the score");
bars(at("features"), parts(data.features), ["score", data.score]);
const second = data.runner_up;
make("h2", at("second"), second ? "Second best, and what decided" : "No other translation was found");
if (second) {
  make("p", at("second"), second.translation);
  bars(at("second"), decided(second.decided), ["difference", second.difference]);
}

const search = data.search;
make("h2", at("search"), "The search");
make("p", at("search"), `${search.name}${search.beam ? ", beam " + search.beam : ""}: ${search.items} items, ${search.recombined} recombined, ${search.pruned} pruned, ${search.lm_queries} words scored`, "quiet");
if (search.taken.length) {
  make("p", at("search"), "The parts of the answer in the order in which they were taken: number, score, estimate of the whole, of how many", "quiet");
  const table = make("table", at("search"));
  for (const part of search.taken) {
    const row = make("tr", table);
    make("td", row, part.before + 1, "number");
    make("td", row, part.score.toFixed(4), "number");
    make("td", row, part.estimate.toFixed(4), "number");
    make("td", row, part.waiting, "number");
    make("td", row, part.place, "rule");
    make("td", row, part.words);
  }
}
for (const bin of search.bins) {
  const more = make("details", at("search"));
  make("summary", more, `bin ${bin.bin}${bin.round === null ? "" : "." + bin.round}: kept ${bin.kept} of ${bin.competed}`);
  const table = make("table", more);
  for (const item of bin.items) {
    const row = make("tr", table, undefined, item.agrees ? "agrees" : item.kept ? "" : "dropped");
    make("td", row, item.score.toFixed(4), "number");
    make("td", row, item.future.toFixed(4), "number");
    make("td", row, item.stack, "rule");
    make("td", row, item.words === null ? "" : item.words);
  }
}
go(0);
