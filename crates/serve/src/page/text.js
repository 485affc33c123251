"use strict";
// Text on the one side, its translation on the other, and the links between their words.
let timer = 0;
let running = null;

function typed() {
  drawBack([]);
  soon();
}
// What is asked for now is no longer wanted; what is there in a moment is.
function soon() {
  clearTimeout(timer);
  if (running) running.abort();
  running = null;
  at("output").classList.add("stale");
  timer = setTimeout(translate, 250);
}

// Translates what is there now. An answer to what was there before is never shown.
async function translate() {
  clearTimeout(timer);
  if (running) running.abort();
  const mine = (running = new AbortController());
  at("output").classList.add("stale");
  const value = at("text").value;
  const text = value.toWellFormed ? value.toWellFormed() : value;
  const lines = text.split("\n");
  const missing = [...new Set(lines)].filter((line) => line.trim() && !state.lines.has(line));
  try {
    if (missing.length) {
      const found = await translations(missing, mine.signal);
      missing.forEach((line, place) => state.lines.set(line, found[place].sentences));
    }
    const sentences = layOut(lines);
    await Promise.all(sentences.map((sentence) => withChoices(sentence, mine.signal)));
    if (mine !== running) return;
    complain(null);
    show(lines, sentences);
    remember(sentences);
  } catch (error) {
    if (mine === running) complain(error);
  }
}

// A server may take fewer lines at once: then it is asked about each half.
async function translations(lines, signal) {
  try {
    return (await ask("POST", "/v1/translate", request({ text: lines }), signal)).translations;
  } catch (error) {
    if (error.status !== 400 || lines.length < 2) throw error;
    const half = lines.length >> 1;
    return [...await translations(lines.slice(0, half), signal), ...await translations(lines.slice(half), signal)];
  }
}

// The sentences of lines, with the places of their words in the text.
function layOut(lines) {
  const sentences = [];
  let start = 0;
  lines.forEach((line, number) => {
    const inLine = placesOf(line);
    for (const found of state.lines.get(line) || []) {
      const from = inLine[found.bytes[0]], to = inLine[found.bytes[1]];
      sentences.push({ line: number, from, to, start: start + from, text: line.slice(from, to), found });
    }
    start += line.length + 1;
  });
  return sentences;
}

async function withChoices(sentence, signal) {
  const choices = state.choices.get(sentence.text) || [];
  sentence.choices = choices;
  const question = questionOf(sentence.text, choices);
  const proven = state.proven.get(question);
  if (proven) {
    sentence.found = proven;
  } else if (choices.length) {
    if (!state.chosen.has(question)) {
      try {
        const answer = await ask("POST", "/v1/translate", request({ text: sentence.text }, choices), signal);
        state.chosen.set(question, answer.translations[0].sentences[0]);
      } catch (error) {
        if (error.status !== 400) throw error;
        // Terms or corrections have taken away what was chosen.
        state.choices.delete(sentence.text);
        sentence.choices = [];
        return;
      }
    }
    sentence.found = state.chosen.get(question);
  }
}

// Draws a translation: a line for a line, words that can be reached by mouse and keys.
function show(lines, sentences) {
  state.sentences = sentences;
  at("proof").textContent = "";
  const output = at("output");
  output.classList.remove("stale");
  output.replaceChildren();
  const drawn = lines.map(() => {
    const line = make("div", output, undefined, "line");
    line.dir = "auto";
    return { line, at: 0 };
  });
  sentences.forEach((sentence, number) => {
    const place = drawn[sentence.line];
    place.line.append(lines[sentence.line].slice(place.at, sentence.from));
    place.at = sentence.to;
    drawSentence(place.line, sentence, number);
  });
  drawn.forEach((place, number) => place.line.append(lines[number].slice(place.at)));
  const first = output.querySelector(".w");
  if (first) first.tabIndex = 0;
  drawBack(sentences);
  showFacts(sentences);
  at("said").textContent = wholeText(lines, sentences);
  at("copy").disabled = at("prove").disabled = !sentences.length;
  following(sentences);
}

// The translation as one text, without any marks.
function wholeText(lines, sentences) {
  return lines.map((line, number) => {
    let text = "", end = 0;
    for (const sentence of sentences.filter((one) => one.line === number)) {
      const best = sentence.found.best[0];
      text += line.slice(end, sentence.from) + (best ? best.translation : sentence.text);
      end = sentence.to;
    }
    return text + line.slice(end);
  }).join("\n");
}

function drawSentence(parent, sentence, number) {
  const box = make("span", parent, undefined, "sentence");
  box.dataset.sentence = number;
  const best = sentence.found.best[0];
  sentence.words = [];
  if (!best) {
    box.textContent = sentence.text;
    return;
  }
  const places = placesOf(best.translation);
  const unknown = new Set(sentence.found.unknown_words);
  const linked = (word) => best.links.filter((link) => link[1] === word).map((link) => link[0]);
  const isChosen = (word) => linked(word).some((source) => sentence.choices.some((choice) => choice.span[0] <= source && source < choice.span[1]));
  let end = 0;
  best.spans.forEach(([from, to], word) => {
    box.append(best.translation.slice(end, places[from]));
    end = Math.max(end, places[to]);
    const shown = make("span", box, best.translation.slice(places[from], places[to]), "w");
    shown.dataset.word = word;
    shown.setAttribute("role", "button");
    shown.tabIndex = -1;
    const sources = linked(word);
    if (sources.length && sources.every((source) => unknown.has(source))) {
      shown.classList.add("copied");
      shown.title = "the model does not know this word";
    }
    if (isChosen(word)) shown.classList.add("chosen");
    sentence.words.push(shown);
  });
  box.append(best.translation.slice(end));
  if (sentence.found.gap === 0) {
    const mark = make("span", box, "✓", "proven");
    mark.title = "proven best: the model has no better translation";
    make("span", mark, " proven best", "hidden");
  }
}

// What lies behind the text: the same letters, so that words can be marked.
function drawBack(sentences) {
  const back = at("back"), text = at("text").value;
  back.replaceChildren();
  let end = 0;
  sentences.forEach((sentence, number) => {
    const places = placesOf(sentence.text);
    const unknown = new Set(sentence.found.unknown_words);
    sentence.marks = [];
    sentence.found.source.forEach((word, place) => {
      if (!word.span) return;
      const from = sentence.start + places[word.span[0]], to = sentence.start + places[word.span[1]];
      if (from < end) {
        // Two words of a contraction stand in the same place.
        sentence.marks[place] = sentence.marks[place - 1];
        return;
      }
      back.append(text.slice(end, from));
      const mark = make("span", back, text.slice(from, to), unknown.has(place) ? "unknown" : "");
      mark.dataset.sentence = number;
      mark.dataset.word = place;
      sentence.marks[place] = mark;
      end = to;
    });
  });
  // A line break at the end takes room only if something follows.
  back.append(text.slice(end) + "\u200b");
  at("text").style.height = "auto";
  at("text").style.height = Math.max(at("text").scrollHeight, back.scrollHeight) + "px";
}

function showFacts(sentences) {
  const facts = at("facts");
  facts.replaceChildren();
  let words = 0;
  const unknown = [];
  for (const { found } of sentences) {
    words += found.source.filter((word) => /\p{L}/u.test(word.text)).length;
    unknown.push(...found.unknown_words.map((place) => found.source[place].text));
  }
  if (!words) return;
  const share = Math.max(0, words - unknown.length) / words;
  const meter = make("meter", facts);
  meter.value = share;
  meter.setAttribute("aria-label", "words covered");
  make("span", facts, `${Math.floor(100 * share)} % of ${words} ${words === 1 ? "word" : "words"} covered`, "covered");
  if (unknown.length) make("span", facts, `unknown: ${[...new Set(unknown)].slice(0, 12).join(", ")}`, "unknown-words");
  if (sentences.some(({ found }) => found.missed_terms.length)) make("span", facts, "terms that overlap others were translated freely");
  if (sentences.some(({ found }) => found.origin === "correction")) make("span", facts, "from a correction");
  if (sentences.some(({ found }) => found.cut_short)) make("span", facts, "time was short: a best effort");
}

// Marks a word, and what it is linked to on the other side.
function mark(side, number, word) {
  document.querySelectorAll("#back .linked, #back .held, #output .linked, #output .held").forEach((one) => one.classList.remove("linked", "held"));
  const sentence = state.sentences[number];
  const best = sentence && sentence.found.best[0];
  if (!best) return;
  const [own, other] = side === "target" ? [sentence.words, sentence.marks] : [sentence.marks, sentence.words];
  if (own && own[word]) own[word].classList.add("held");
  for (const [source, target] of best.links) {
    const [here, there] = side === "target" ? [target, source] : [source, target];
    if (here === word && other && other[there]) other[there].classList.add("linked");
  }
}

// The word of the text under a point.
function wordAt(x, y) {
  for (const one of at("back").querySelectorAll("span")) {
    for (const box of one.getClientRects()) {
      if (box.left <= x && x < box.right && box.top <= y && y < box.bottom) return one;
    }
  }
  return null;
}
// The word of the text at the cursor.
function wordAtCursor() {
  const place = at("text").selectionStart;
  let end = 0;
  for (const node of at("back").childNodes) {
    const start = end;
    end += node.textContent.length;
    if (node.nodeType === 1 && start <= place && place <= end) return node;
  }
  return null;
}
const markWord = (one) => (one ? mark("source", Number(one.dataset.sentence), Number(one.dataset.word)) : mark("", -1, -1));
const placeOf = (word) => [Number(word.parentElement.dataset.sentence), Number(word.dataset.word)];

// Keys move among the words of the translation; only one of them is on the way of the tab key.
function moveAmongWords(event) {
  const words = [...at("output").querySelectorAll(".w")];
  const here = words.indexOf(event.target);
  if (here < 0) return;
  const rightToLeft = getComputedStyle(event.target).direction === "rtl";
  const next = { ArrowRight: rightToLeft ? -1 : 1, ArrowLeft: rightToLeft ? 1 : -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? words.length - 1 : next && here + next;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    openPanel(...placeOf(event.target));
  } else if (to !== undefined && words[to]) {
    event.preventDefault();
    words[here].tabIndex = -1;
    words[to].tabIndex = 0;
    words[to].focus();
  }
}
