"use strict";
// Draws the target tree as arcs over the words, from each head to its children; the root has none above it.
function drawStructure(svg, data, onWord) {
  const structure = data.structure;
  if (!structure) { svg.parentElement.remove(); return; }
  const space = "http://www.w3.org/2000/svg";
  const make = (name, attributes, text) => {
    const element = document.createElementNS(space, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return svg.appendChild(element);
  };
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "13px sans-serif";
  const margin = 14, level = 16;
  let right = margin;
  const middles = structure.words.map((word, index) => {
    const wide = Math.max(measure.measureText(data.words[index].text).width, measure.measureText(word.tag).width) + 18;
    right += wide;
    return right - wide / 2;
  });
  // An arc is one level above the highest of those below it; shorter arcs first.
  const arcs = [];
  structure.words.forEach((word, index) => {
    if (word.head !== null) arcs.push({ child: index, from: Math.min(index, word.head), to: Math.max(index, word.head), height: 1 });
  });
  arcs.sort((a, b) => a.to - a.from - (b.to - b.from));
  arcs.forEach((arc, place) => {
    arcs.slice(0, place).forEach((below) => {
      if (below.from >= arc.from && below.to <= arc.to) arc.height = Math.max(arc.height, below.height + 1);
    });
  });
  const top = Math.max(1, ...arcs.map((arc) => arc.height));
  const ground = margin + (top + 1) * level;
  svg.setAttribute("width", Math.ceil(right + margin));
  svg.setAttribute("height", ground + 40);
  arcs.forEach((arc) => {
    const head = structure.words[arc.child].head;
    const shift = head < arc.child ? 4 : -4;
    const from = middles[head] + shift, to = middles[arc.child], up = ground - arc.height * level;
    const path = make("path", { d: `M${from} ${ground} L${from} ${up} L${to} ${up} L${to} ${ground - 4}`, class: "arc" });
    path.dataset.child = arc.child;
    make("path", { d: `M${to - 3} ${ground - 8} L${to} ${ground - 2} L${to + 3} ${ground - 8}`, class: "arc" });
  });
  structure.words.forEach((word, index) => {
    const text = make("text", { x: middles[index], y: ground + 14, class: word.head === null ? "word root" : "word" }, data.words[index].text);
    text.addEventListener("click", () => onWord(index));
    make("text", { x: middles[index], y: ground + 30, class: "tag" }, word.tag);
    const title = document.createElementNS(space, "title");
    title.textContent = `${word.value.toFixed(4)} × ${structure.weight.toFixed(4)}`;
    text.appendChild(title);
  });
}
