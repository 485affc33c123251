"use strict";
// What pages show of an explanation (docs/formats/explanation.md), each part in an element that they give.
const make = (name, parent, text, kind) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return parent.appendChild(element);
};
const number = (value) => (value > 0 ? "+" : "") + value.toFixed(4);
const kinds = {
  table: "", overlay: "from the overlay", term: "from the glossary, or kept as it is",
  unseen: "for a word like it, or for its parts: no rule is for the word itself",
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
// Rows of bars: features by name, or in words where these are known.
const meaning = (data, name) => (data.meanings[name] ? `${data.meanings[name]}: ` : "");
const rowName = (data, name) => (data.inWords && data.meanings[name]) || name;
// In words, what adds nothing is left out.
const heard = (data, list, value) => list.filter((one) => !data.inWords || Math.abs(value(one)) >= 5e-5);
const parts = (data, list) => heard(data, list, (part) => part.score).map((part) => [rowName(data, part.feature), part.score, `${meaning(data, part.feature)}${part.feature}: ${part.value.toFixed(4)} × ${part.weight.toFixed(4)}`]);
const decided = (data, list) => heard(data, list, (one) => one.difference).map((one) => [rowName(data, one.feature), one.difference, `${meaning(data, one.feature)}${one.feature}: ${one.score.toFixed(4)} against ${one.other.toFixed(4)}`]);

// The leftmost derivation after so many steps: words that are there, and places that are still open.
function showForm(form, data, count) {
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

// A rule: where it comes from, what its features add, its training lines, and the best other rule for its place. The
// latter two may stand beside it.
function showRule(box, data, index, beside = box) {
  const step = data.steps[index];
  box.replaceChildren();
  make("h2", box, `Rule ${index + 1} of ${data.steps.length}`);
  make("p", box, step.rule, "rule");
  const about = [];
  if (kinds[step.kind]) about.push(kinds[step.kind]);
  if (step.stands_for && step.stands_for.length) about.push(`as ${step.stands_for.join(" + ")}`);
  if (step.order) about.push(`${step.order.text} (${step.order.orientation})`);
  const times = (count) => (count === 1 ? "once" : `${+count.toFixed(2)} times`);
  if (step.count) about.push(`seen ${times(step.count[0])}, its source side ${times(step.count[1])}`);
  if (about.length) make("p", box, about.join("; "), "quiet");
  bars(box, parts(data, step.parts), ["adds", step.score]);
  const list = make("ul", beside, undefined, "pairs");
  for (const line of step.lines) {
    const item = make("li", list);
    make("span", item, `line ${line.number}`, "quiet");
    for (const [words, marks] of [[line.source, line.source_marks], [line.target, line.target_marks]]) {
      const text = make("div", item);
      text.dir = "auto";
      words.forEach((word, place) => {
        make(marks.includes(place) ? "b" : "span", text, word);
        text.append(" ");
      });
    }
  }
  if (!step.lines.length) make("li", list, "no training lines", "quiet");
  const other = step.competitor;
  if (other) {
    const more = make("details", beside);
    more.open = beside === box;
    make("summary", more, other.difference >= 0 ? `the best other rule here: ${other.difference.toFixed(4)} less` : `another rule here that the search missed: ${(-other.difference).toFixed(4)} more`);
    make("p", more, other.rule, "rule");
    make("p", more, other.words.join(" "), "quiet");
    bars(more, decided(data, other.decided), ["difference", other.difference]);
  }
}

// The features of the whole translation, and what decided against the second best.
function showWhole(features, second, data) {
  make("h2", features, "What makes the score");
  bars(features, parts(data, data.features), ["score", data.score]);
  const other = data.runner_up;
  make("h2", second, other ? "Second best, and what decided" : "No other translation was found");
  if (other) {
    make("p", second, other.translation);
    bars(second, decided(data, other.decided), ["difference", other.difference]);
  }
  if (data.overruled) showOverruled(second, data.overruled, data);
}

// What would have been said without the network: words that differ are marked on both sides.
function showOverruled(box, other, data) {
  make("h2", box, "Without the network");
  const own = data.words.map((word) => word.text);
  for (const [name, words, marks] of [["with it", own, other.put_in], ["without", other.words, other.left_out]]) {
    const line = make("p", box);
    make("span", line, name + ": ", "quiet");
    words.forEach((word, place) => {
      make(marks.includes(place) ? "b" : "span", line, word);
      line.append(" ");
    });
  }
  bars(box, decided(data, other.decided), ["difference", other.network + other.others]);
}

// What the search did, and its bins one by one if it has any.
function showSearch(box, data) {
  const search = data.search;
  make("h2", box, "The search");
  make("p", box, `${search.name}${search.beam ? ", beam " + search.beam : ""}: ${search.items} items, ${search.recombined} recombined, ${search.pruned} pruned, ${search.lm_queries} words scored`, "quiet");
  if (search.taken.length) {
    make("p", box, "The parts of the answer in the order in which they were taken: number, score, estimate of the whole, of how many", "quiet");
    const table = make("table", box);
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
    const more = make("details", box);
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
}
