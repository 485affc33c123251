"use strict";
// What the page knows, and how it asks the server. All data goes into text nodes and attributes, never into markup.
const at = (id) => document.getElementById(id);
const state = {
  languages: [], from: "", to: "", key: "", terms: {},
  // Sentences of lines that were translated, and sentences with choices, by what was asked.
  lines: new Map(), chosen: new Map(),
  // Choices by sentence, and sentences whose translation was proven, by what was asked.
  choices: new Map(), proven: new Map(),
  // What is shown: sentences in order. What the panel is about: a sentence and one of its target words.
  sentences: [], current: null,
  history: [],
};
const button = (parent, text, act, kind) => {
  const made = make("button", parent, text, kind);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
};

// What browsers may refuse to keep is forgotten.
const kept = {
  get(name) { try { return localStorage.getItem("sylvan." + name) || ""; } catch { return ""; } },
  set(name, value) { try { localStorage.setItem("sylvan." + name, value); } catch { /* it stays until the page is closed */ } },
};

class Refused extends Error {
  constructor(status, said) { super(said); this.status = status; }
}
const pause = (seconds, signal) => new Promise((done, failed) => {
  const timer = setTimeout(done, 1000 * seconds);
  if (signal) signal.addEventListener("abort", () => { clearTimeout(timer); failed(new DOMException("", "AbortError")); });
});

// Asks the server; one that is busy is asked again, a few times.
async function ask(method, path, body, signal) {
  for (let turn = 0; ; turn++) {
    const headers = {};
    if (state.key) headers.Authorization = "Bearer " + state.key;
    if (body) headers["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(path, { method, headers, signal, body: body ? JSON.stringify(body) : undefined });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(0, "The server does not answer.");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    if (response.status === 503 && turn < 3) {
      await pause(Number(response.headers.get("Retry-After")) || 1, signal);
      continue;
    }
    const said = typeof answer.error === "string" ? answer.error : `The server says ${response.status}.`;
    throw new Refused(response.status, said);
  }
}

// What every request has besides its text.
function request(more, choices) {
  const asked = { source: state.from, target: state.to, ...more };
  if (Object.keys(state.terms).length) asked.glossary = state.terms;
  if (choices && choices.length) asked.choose = choices;
  return asked;
}
const questionOf = (text, choices, more) => JSON.stringify([text, choices || [], more || ""]);

function complain(error) {
  if (error && error.name === "AbortError") return;
  at("alert").textContent = error ? error.message : "";
  if (error && error.status === 403) openList("access", true);
}

// Nothing that was asked before counts any more: other terms, corrections or languages.
function forget() {
  state.lines.clear();
  state.chosen.clear();
  state.proven.clear();
  reasons.clear();
}

// From bytes of a text in UTF-8 to places in it.
function placesOf(text) {
  const places = [];
  let at = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let byte = 0; byte < bytes; byte++) places.push(at);
    at += letter.length;
  }
  places.push(at);
  return places;
}
