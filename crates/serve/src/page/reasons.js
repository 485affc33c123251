"use strict";
// The panel about one sentence: why a word is there, the derivation, the search.
const reasons = new Map();
const tabs = ["why", "parts", "steps", "search", "correct"];
let tab = "why";
let step = 0;

// The explanation of a sentence as it is shown, kept until something changes. What exact search found may be another
// translation than the usual one.
function explained(sentence, search) {
  if (search === undefined && typeof sentence.found.gap === "number") search = "exact";
  const question = questionOf(sentence.text, sentence.choices, search);
  if (!reasons.has(question)) {
    const asked = request({ text: sentence.text, ...(search ? { search } : {}) }, sentence.choices);
    const answer = ask("POST", "/v1/explain", asked).then(withTree);
    answer.catch(() => reasons.delete(question));
    reasons.set(question, answer);
  }
  return reasons.get(question);
}

// Where a sentence has no tree, its derivation stands for one: a node for each rule.
function withTree(data) {
  data.inWords = true;
  data.hasTree = data.tree.length > 0;
  if (data.hasTree) return data;
  const nodes = [], places = [];
  for (let index = data.steps.length - 1; index >= 0; index--) {
    const step = data.steps[index];
    const inner = step.target.filter((piece) => "step" in piece).map((piece) => places[piece.step]);
    const children = [
      ...step.source.map((word) => ({ from: word, to: word + 1, child: { words: [word, word + 1] } })),
      ...inner.map((node) => ({ from: nodes[node].span[0], to: nodes[node].span[1], child: { node } })),
    ].sort((a, b) => a.from - b.from);
    const span = [Math.min(...children.map((one) => one.from)), Math.max(...children.map((one) => one.to))];
    places[index] = nodes.length;
    nodes.push({ label: step.kind === "glue" ? "S" : "X", span: children.length ? span : [0, 0], children: children.map((one) => one.child) });
  }
  data.tree = nodes;
  data.steps.forEach((step, index) => { step.node = places[index]; });
  return data;
}

function openPanel(number, word) {
  const sentence = state.sentences[number];
  if (!sentence || !sentence.found.best[0]) return;
  state.current = { number, word };
  step = 0;
  at("panel").hidden = false;
  openTab(tab === "correct" ? "why" : tab);
  at("panel").scrollIntoView({ block: "nearest" });
}
function closePanel() {
  at("panel").hidden = true;
  const current = state.current;
  state.current = null;
  following(state.sentences);
  const sentence = current && state.sentences[current.number];
  if (sentence && sentence.words[current.word]) sentence.words[current.word].focus();
}
// After a new translation the panel is about the same sentence, if it is still there.
function following(sentences) {
  at("output").querySelectorAll(".sentence.now").forEach((one) => one.classList.remove("now"));
  if (!state.current) return;
  const { text } = state.current;
  const number = sentences.findIndex((sentence) => sentence.text === text);
  if (number < 0) {
    at("panel").hidden = true;
    state.current = null;
    return;
  }
  state.current.number = number;
  state.current.word = Math.min(state.current.word, sentences[number].words.length - 1);
  openTab(tab);
}

function openTab(name) {
  tab = name;
  for (const one of tabs) {
    at("tab-" + one).setAttribute("aria-selected", one === name);
    at("tab-" + one).tabIndex = one === name ? 0 : -1;
    at("box-" + one).hidden = one !== name;
  }
  const sentence = state.sentences[state.current.number];
  state.current.text = sentence.text;
  // Nothing that was asked before is shown while this is waited for, except to those who have just chosen.
  if (name !== "correct" && !refocus) at("box-" + name).replaceChildren();
  at("output").querySelectorAll(".sentence").forEach((one) => one.classList.toggle("now", Number(one.dataset.sentence) === state.current.number));
  const about = at("about");
  about.replaceChildren();
  make("span", about, sentence.text + " → ");
  make("b", about, sentence.found.best[0].translation);
  const show = { why: showWhy, parts: showParts, steps: showSteps, search: showSearching, correct: showCorrecting }[name];
  return show(sentence).catch(complain);
}
function moveAmongTabs(event) {
  const here = tabs.indexOf(tab);
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const name = tabs[(to + tabs.length) % tabs.length];
  openTab(name);
  at("tab-" + name).focus();
}
// Whether the panel is still about what was asked for.
const isCurrent = (sentence, name) => tab === name && state.current && state.sentences[state.current.number] === sentence;

async function showWhy(sentence) {
  const box = at("box-why");
  const data = await explained(sentence);
  if (!isCurrent(sentence, "why")) return;
  box.replaceChildren();
  const word = data.words[state.current.word];
  if (!word) return;
  const title = make("h2", box);
  title.append("Why “");
  make("span", title, word.text).dir = "auto";
  title.append("”?");
  const from = word.links.map((place) => data.source[place]);
  const said = make("p", box, undefined, "quiet");
  said.append(from.length ? "It translates " : "It stands for no word of its own.");
  if (from.length) make("b", said, from.join(" ")).dir = "auto";
  if (sentence.found.origin === "correction") make("p", box, "A correction gave this sentence its translation; below is what the rules make of it.", "quiet origin");
  const two = make("div", box, undefined, "two");
  const [left, right] = [make("div", two), make("div", two)];
  make("h2", right, "Where it was learnt");
  showRule(left, data, word.step, right);
  make("h2", left, "What the language models say of the word");
  bars(left, parts(data, word.parts));
  const more = make("details", right, undefined, "more");
  make("summary", more, "The whole sentence: its score, and the second best");
  showWhole(make("div", more), make("div", more), data);
}
// A frame with the tree in it.
function treeIn(parent, data, name, onNode) {
  const frame = make("div", parent, undefined, "tree");
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", data.hasTree ? name : name + " (the rules stand for a tree)");
  const svg = frame.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  return { svg, ...drawTree(svg, data, onNode) };
}

async function showSteps(sentence) {
  const box = at("box-steps");
  const data = await explained(sentence);
  if (!isCurrent(sentence, "steps")) return;
  box.replaceChildren();
  const bar = make("div", box, undefined, "steps");
  const last = data.steps.length - 1;
  const heads = new Set(data.steps.map((one) => one.node));
  const form = make("p", box, undefined, "words form");
  form.dir = "auto";
  const two = make("div", box, undefined, "two");
  const rule = make("div", two);
  const drawn = make("div", two);
  const tree = treeIn(drawn, data, "source tree", (node) => {
    const found = data.steps.findIndex((one) => one.node === node);
    if (found >= 0) go(found);
  });
  if (data.structure) {
    make("h3", drawn, "Target tree");
    const frame = make("div", drawn, undefined, "tree");
    const svg = frame.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    svg.id = "structure";
    drawStructure(svg, data, (word) => go(data.words[word].step));
  }
  const learnt = make("div", drawn);
  const first = button(bar, "⇤", () => go(0)), back = button(bar, "←", () => go(step - 1));
  const where = make("output", bar);
  const next = button(bar, "→", () => go(step + 1)), end = button(bar, "⇥", () => go(last));
  [[first, "first step"], [back, "step back"], [next, "next step"], [end, "last step"]].forEach(([one, name]) => one.setAttribute("aria-label", name));
  function go(to) {
    step = Math.max(0, Math.min(last, to));
    where.textContent = `step ${step + 1} of ${last + 1}`;
    first.disabled = back.disabled = step === 0;
    next.disabled = end.disabled = step === last;
    showForm(form, data, step + 1);
    learnt.replaceChildren();
    make("h3", learnt, "Where it was learnt");
    showRule(rule, data, step, learnt);
    tree.show(data.steps[step], heads, [], true);
  }
  box.onkeydown = (event) => {
    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.target.closest("select, textarea, input")) return;
    event.preventDefault();
    go(to);
  };
  go(Math.min(step, last));
}

const searches = ["incremental", "prediction", "undirected", "refine", "cube", "exact"];
let chosenSearch = "incremental";
async function showSearching(sentence) {
  const box = at("box-search");
  const asked = chosenSearch;
  let data = null, refused = null;
  try {
    data = await explained(sentence, asked);
  } catch (error) {
    refused = error;
  }
  if (!isCurrent(sentence, "search") || asked !== chosenSearch) return;
  box.replaceChildren();
  const bar = make("div", box, undefined, "steps");
  const label = make("label", bar, "Search ");
  label.htmlFor = "search-name";
  const select = make("select", bar);
  select.id = "search-name";
  for (const name of ["", ...searches]) make("option", select, name || "as usual").value = name;
  select.value = asked;
  select.addEventListener("change", () => { chosenSearch = select.value; openTab("search"); });
  if (refused) {
    make("p", box, refused.message, "wrong");
    return;
  }
  const view = make("div", box);
  showSearch(view, data);
  const gap = data.search.gap;
  if (gap !== null) make("p", view, gap === 0 ? "✓ proven best" : `nothing is better by more than ${gap.toFixed(4)}`, "proof");
  make("p", view, data.translation).dir = "auto";
  const bins = [...view.querySelectorAll("details")];
  if (!bins.length) return;
  make("p", view, "Each line: the score so far, an estimate of the rest, what is still open (behind the dot), words. Coloured: on the way to the answer. Struck out: dropped by the beam.", "quiet");
  let open = 0;
  const back = button(bar, "←", () => go(open - 1)), where = make("output", bar), next = button(bar, "→", () => go(open + 1));
  back.setAttribute("aria-label", "bin before");
  next.setAttribute("aria-label", "next bin");
  function go(to) {
    open = Math.max(0, Math.min(bins.length - 1, to));
    bins.forEach((bin, place) => { bin.open = place === open; bin.hidden = place !== open; });
    where.textContent = `bin ${open + 1} of ${bins.length}`;
    back.disabled = open === 0;
    next.disabled = open === bins.length - 1;
  }
  go(0);
}
