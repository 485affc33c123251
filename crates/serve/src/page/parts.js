"use strict";
// Other translations of a part of a sentence: ask for them, choose one, and the rest is searched again.
let part = null;
let asking = null;
// Whoever chose with a key goes on from the same place.
let refocus = false;

async function showParts(sentence) {
  const box = at("box-parts");
  const data = await explained(sentence);
  if (!isCurrent(sentence, "parts")) return;
  box.replaceChildren();
  const two = make("div", box, undefined, "two");
  const left = make("div", two), right = make("div", two);
  right.id = "others";
  right.setAttribute("aria-live", "polite");
  make("p", left, "Choose a constituent of the tree, or words: click one, then another with Shift for all between.", "quiet");
  let boxes = [];
  const tree = treeIn(left, data, "source tree", (index) => {
    const node = data.tree[index];
    pick({ span: node.span, label: data.hasTree ? node.label : null, node: index });
  });
  boxes = [...tree.svg.querySelectorAll(".box")];
  const row = make("div", left, undefined, "span");
  row.dir = "auto";
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "source words");
  const words = data.source.map((word, place) => button(row, word, (event) => {
    const [from, to] = event.shiftKey && part ? part.span : [place, place + 1];
    pick({ span: [Math.min(from, place), Math.max(to, place + 1)], label: null, node: -1 });
  }));
  function pick(wanted) {
    part = { ...wanted, text: sentence.text };
    words.forEach((word, place) => word.setAttribute("aria-pressed", part.span[0] <= place && place < part.span[1]));
    boxes.forEach((one, index) => one.classList.toggle("asked", index === part.node));
    listOthers(sentence, right).catch(complain);
  }
  if (part && part.text === sentence.text) pick(part);
  else showChoices(sentence, right);
}

// What is chosen so far; each can be given up.
function showChoices(sentence, parent) {
  parent.replaceChildren();
  if (!sentence.choices.length) return;
  make("h3", parent, "Chosen");
  const chips = make("div", parent, undefined, "chips");
  for (const choice of sentence.choices) {
    const source = sentence.found.source.slice(choice.span[0], choice.span[1]).map((word) => word.text).join(" ");
    const chip = button(chips, `${source} → ${choice.words.join(" ")} ×`, () => choose(sentence, null, choice.span));
    chip.setAttribute("aria-label", `give up ${source} → ${choice.words.join(" ")}`);
  }
}

async function listOthers(sentence, parent) {
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  const { span, label } = part;
  const asked = request({ text: sentence.text, span, ...(label ? { label } : {}) }, sentence.choices);
  parent.setAttribute("aria-busy", "true");
  let found;
  try {
    found = await ask("POST", "/v1/alternatives", asked, mine.signal);
  } catch (error) {
    if (mine !== asking) return;
    parent.removeAttribute("aria-busy");
    showChoices(sentence, parent);
    make("p", parent, error.message, "wrong");
    return;
  }
  if (mine !== asking || !isCurrent(sentence, "parts")) return;
  parent.removeAttribute("aria-busy");
  showChoices(sentence, parent);
  const title = make("h3", parent);
  title.append("Translations of “");
  make("span", title, found.source.join(" ")).dir = "auto";
  title.append(found.label && label ? `” (${found.label})` : "”");
  if (!found.places) make("p", parent, "The best translation of the sentence makes these words part of something larger. By themselves:", "quiet");
  const list = make("ol", parent, undefined, "others");
  for (const one of found.alternatives) {
    const item = make("li", list);
    const shown = make("span", item, undefined, "part");
    shown.dir = "auto";
    make("b", shown, one.text || "(nothing)");
    const difference = make("span", item, one.difference === 0 ? "best" : `${one.difference > 0 ? "−" : "+"}${Math.abs(one.difference).toFixed(3)}`, "difference");
    difference.title = "how the score of the whole sentence differs from that of the best translation";
    const act = one.chosen ? button(item, "Give up", () => choose(sentence, null, span)) : button(item, "Choose", () => choose(sentence, { span, words: one.words, ...(label ? { label } : {}) }, span));
    act.setAttribute("aria-label", `${act.textContent}: ${one.text}`);
    if (refocus && (one.chosen || !sentence.choices.length)) {
      refocus = false;
      act.focus({ preventScroll: true });
    }
    make("span", item, one.translation, "whole").dir = "auto";
  }
  if (!found.alternatives.length) make("p", parent, "No translation by itself is known.", "quiet");
  if (found.cut_short) make("p", parent, "Time was short: there may be more.", "quiet");
}

// Holds a translation of some words, or none, and searches the rest again. An older choice about the same words goes.
function choose(sentence, choice, span) {
  refocus = at("others").contains(document.activeElement);
  const others = sentence.choices.filter((one) => one.span[1] <= span[0] || span[1] <= one.span[0]);
  const choices = choice ? [...others, choice] : others;
  if (choices.length) state.choices.set(sentence.text, choices);
  else state.choices.delete(sentence.text);
  return translate();
}
