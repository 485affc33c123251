"use strict";
// Glossary, corrections, history, proofs.
function openList(name, open) {
  for (const one of document.querySelectorAll("[data-list]")) {
    const is = one.dataset.list === name && open;
    one.setAttribute("aria-expanded", is);
    at(one.dataset.list).hidden = !is;
  }
  if (!open) return;
  if (name === "corrections") listCorrections().catch(complain);
  const field = at(name).querySelector("textarea, input");
  if (field) field.focus();
}

const pairName = () => `glossary.${state.from}.${state.to}`;
// Terms of the lines of the glossary; lines that are none are named.
function readGlossary() {
  const terms = {}, wrong = [];
  at("entries").value.split("\n").forEach((line, number) => {
    if (!line.trim()) return;
    const [term, translation, ...more] = (line.includes("\t") ? line.split("\t") : line.split("=")).map((one) => one.trim());
    if (!term || !translation || more.length) wrong.push(number + 1);
    else terms[term] = translation;
  });
  at("entries-wrong").textContent = wrong.length ? `Not a term and its translation: line ${wrong.join(", ")}` : "";
  const count = Object.keys(terms).length;
  at("terms").textContent = count || "";
  state.terms = terms;
}
function glossaryTyped() {
  kept.set(pairName(), at("entries").value);
  readGlossary();
  forget();
  soon();
}
function loadGlossary() {
  at("entries").value = kept.get(pairName());
  readGlossary();
}

async function showCorrecting(sentence) {
  if (at("better").dataset.of !== sentence.text) {
    at("better").dataset.of = sentence.text;
    at("better").value = sentence.found.best[0].translation;
    at("saved").textContent = "";
    at("changed").replaceChildren();
  }
}
async function saveCorrection() {
  const sentence = state.sentences[state.current.number];
  const translation = at("better").value.trim();
  if (!translation) return;
  const also = [...new Set([...state.sentences.map((one) => one.text), ...state.history])].filter((text) => text !== sentence.text).slice(0, 50);
  at("save").disabled = true;
  at("saved").textContent = "…";
  try {
    const keep = (others) => ask("POST", "/v1/corrections", request({ text: sentence.text, translation, also: others, author: "page" }));
    // A server may take fewer texts at once: then it does not say what else changes.
    const answer = await keep(also).catch((error) => {
      if (error.status !== 400 || !also.length) throw error;
      return keep([]);
    });
    at("saved").textContent = "Saved: it counts from now on.";
    showChanges(answer);
    state.choices.delete(sentence.text);
    forget();
    await translate();
    if (!at("corrections").hidden) await listCorrections();
  } catch (error) {
    at("saved").textContent = "";
    complain(error);
  } finally {
    at("save").disabled = false;
  }
}
function showChanges(answer) {
  const box = at("changed");
  box.replaceChildren();
  make("h3", box, answer.changed.length ? "What else changes" : "Nothing else that you translated here changes.");
  const list = make("ul", box);
  for (const one of answer.changed) {
    const item = make("li", list);
    make("span", item, one.text, "quiet").dir = "auto";
    item.append(": ");
    make("span", item, one.before, "before").dir = "auto";
    item.append(" → ");
    make("span", item, one.after).dir = "auto";
  }
  const rules = answer.corrections.flatMap((one) => one.rules);
  if (!rules.length) return;
  make("h3", box, "Learnt from it");
  const learnt = make("ul", box);
  for (const rule of rules) make("li", learnt, rule, "rule");
}

async function listCorrections() {
  const answer = await ask("GET", `/v1/corrections?source=${encodeURIComponent(state.from)}&target=${encodeURIComponent(state.to)}`);
  const list = at("corrections-list");
  list.replaceChildren();
  for (const one of answer.corrections) {
    const item = make("li", list);
    item.dir = "auto";
    item.append(one.text === undefined ? one.about : `${one.text} → ${one.translation}`);
    if (one.time) make("span", item, ` ${one.author}, ${one.time}`, "quiet");
  }
  at("corrections-empty").hidden = answer.corrections.length > 0;
  at("undo").hidden = !answer.corrections.length;
}
async function undoCorrection() {
  try {
    await ask("DELETE", "/v1/corrections", { source: state.from, target: state.to });
    forget();
    await listCorrections();
    await translate();
  } catch (error) {
    complain(error);
  }
}

function remember(sentences) {
  for (const { text } of sentences) {
    state.history = [text, ...state.history.filter((one) => one !== text && !text.startsWith(one))].slice(0, 50);
  }
  const list = at("history-list");
  list.replaceChildren();
  for (const text of state.history) {
    const item = button(make("li", list), text, () => { at("text").value = text; translate(); });
    item.dir = "auto";
  }
  at("history-empty").hidden = state.history.length > 0;
}

// Searches every sentence until nothing can be better, or as far as time allows.
async function prove() {
  const sentences = state.sentences;
  at("prove").disabled = true;
  at("proof").textContent = "…";
  try {
    await Promise.all(sentences.map(async (sentence) => {
      const asked = request({ text: sentence.text, search: "exact" }, sentence.choices);
      const [found] = (await ask("POST", "/v1/translate", asked)).translations[0].sentences;
      if (found) state.proven.set(questionOf(sentence.text, sentence.choices), found);
    }));
    await translate();
    const gaps = sentences.map((sentence) => state.proven.get(questionOf(sentence.text, sentence.choices))).filter(Boolean).map((found) => found.gap);
    const proven = gaps.filter((gap) => gap === 0).length;
    at("proof").textContent = gaps.length === proven ? "✓ proven best" : `${proven} of ${gaps.length} sentences proven best`;
  } catch (error) {
    at("proof").textContent = "";
    complain(error);
  } finally {
    at("prove").disabled = false;
  }
}

async function copyAll() {
  try {
    await navigator.clipboard.writeText(at("said").textContent);
    at("proof").textContent = "copied";
  } catch {
    getSelection().selectAllChildren(at("output"));
  }
}
