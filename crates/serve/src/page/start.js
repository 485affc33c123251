"use strict";
// Everything is wired up, and the server is asked what it can do.
const sourceOf = (code) => state.languages.find((one) => one.code === code);
function fill(select, codes, value) {
  select.replaceChildren();
  for (const code of codes) make("option", select, (sourceOf(code) || {}).name || code).value = code;
  select.value = codes.includes(value) ? value : codes[0] || "";
}
function setLanguages(from, to) {
  fill(at("from"), state.languages.filter((one) => one.targets.some((code) => code !== one.code)).map((one) => one.code), from);
  const source = sourceOf(at("from").value);
  fill(at("to"), source ? source.targets.filter((code) => code !== source.code) : [], to);
  [state.from, state.to] = [at("from").value, at("to").value];
  const back = sourceOf(state.to);
  at("swap").disabled = !back || !back.targets.includes(state.from);
  at("text").lang = state.from;
  at("output").lang = state.to;
  kept.set("pair", `${state.from} ${state.to}`);
  state.choices.clear();
  forget();
  loadGlossary();
}
function swap() {
  const translated = at("said").textContent;
  setLanguages(state.to, state.from);
  at("text").value = translated;
  translate();
}

at("text").addEventListener("input", typed);
at("text").addEventListener("mousemove", (event) => markWord(wordAt(event.clientX, event.clientY)));
at("text").addEventListener("mouseleave", () => markWord(null));
at("text").addEventListener("keyup", () => markWord(wordAtCursor()));
at("text").addEventListener("blur", () => markWord(null));
addEventListener("resize", () => drawBack(at("output").classList.contains("stale") ? [] : state.sentences));
const words = at("output");
words.addEventListener("mouseover", (event) => { if (event.target.matches(".w")) mark("target", ...placeOf(event.target)); });
words.addEventListener("mouseout", () => markWord(null));
words.addEventListener("focusin", (event) => { if (event.target.matches(".w")) mark("target", ...placeOf(event.target)); });
words.addEventListener("focusout", () => markWord(null));
words.addEventListener("keydown", moveAmongWords);
words.addEventListener("click", (event) => { if (event.target.matches(".w")) openPanel(...placeOf(event.target)); });
at("panel").addEventListener("keydown", (event) => { if (event.key === "Escape") closePanel(); });
for (const name of tabs) {
  at("tab-" + name).addEventListener("click", () => openTab(name));
  at("tab-" + name).addEventListener("keydown", moveAmongTabs);
}
at("close").addEventListener("click", closePanel);
at("from").addEventListener("change", () => { setLanguages(at("from").value, state.to); translate(); });
at("to").addEventListener("change", () => { setLanguages(state.from, at("to").value); translate(); });
at("swap").addEventListener("click", swap);
at("copy").addEventListener("click", copyAll);
at("prove").addEventListener("click", prove);
at("save").addEventListener("click", saveCorrection);
at("undo").addEventListener("click", undoCorrection);
at("entries").addEventListener("input", glossaryTyped);
at("key").addEventListener("change", () => { state.key = at("key").value.trim(); kept.set("key", state.key); forget(); translate(); });
for (const one of document.querySelectorAll("[data-list]")) {
  one.addEventListener("click", () => openList(one.dataset.list, one.getAttribute("aria-expanded") !== "true"));
}

(async () => {
  at("copy").disabled = at("prove").disabled = true;
  state.key = at("key").value = kept.get("key");
  const settings = await ask("GET", "/frontend/settings").catch(() => ({}));
  at("access-button").hidden = !settings.apiKeys;
  state.languages = await ask("GET", "/languages");
  const [from, to] = kept.get("pair").split(" ");
  setLanguages(from, to);
  // A browser may have kept the text of a page that was opened again.
  if (at("text").value) translate();
})().catch(complain);
