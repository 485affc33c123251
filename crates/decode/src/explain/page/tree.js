"use strict";
// Draws the source tree: words in a row at the bottom, each node above the middle of what it holds.
function drawTree(svg, data, onNode) {
  const space = "http://www.w3.org/2000/svg";
  const make = (name, attributes, parent) => {
    const element = document.createElementNS(space, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return (parent || svg).appendChild(element);
  };
  const nodes = data.tree;
  if (!nodes.length) { svg.remove(); return { show() {} }; }
  const measure = document.createElement("canvas").getContext("2d");
  const width = (text, font) => { measure.font = font; return measure.measureText(text).width; };
  const level = 30, margin = 14;
  const spots = nodes.map(() => ({ x: 0, height: 0 }));
  const leaves = [];
  let right = margin;
  // Children stand before their parents, and leaves come in the order of the sentence.
  const labelled = (span) => nodes.filter((node) => node.span[0] === span[0] && node.span[1] === span[1]);
  const leafOf = (span) => {
    const text = data.source.slice(span[0], span[1]).join(" ");
    // Labels above one word must not touch those above the next.
    const above = labelled(span).map((node) => width(node.label, "bold 11.5px sans-serif") - 8);
    const wide = Math.max(width(text, "13px sans-serif"), ...above) + 18;
    const leaf = { x: right + wide / 2, span, text };
    right += wide;
    leaves.push(leaf);
    return leaf;
  };
  const held = nodes.map((node) => node.children.map((child) => ("words" in child ? { leaf: child.words } : { node: child.node })));
  const all = [];
  held.forEach((children) => children.forEach((child) => { if (child.leaf) all.push(child); }));
  all.sort((a, b) => a.leaf[0] - b.leaf[0]);
  all.forEach((child) => { child.spot = leafOf(child.leaf); });
  nodes.forEach((node, index) => {
    const spot = spots[index];
    const kids = held[index].map((child) => child.spot || spots[child.node]);
    spot.x = kids.length ? (kids[0].x + kids[kids.length - 1].x) / 2 : margin;
    spot.height = 1 + Math.max(0, ...held[index].map((child) => (child.spot ? 0 : spots[child.node].height)));
  });
  const top = Math.max(...spots.map((spot) => spot.height));
  const y = (height) => margin + 6 + (top - height) * level;
  svg.setAttribute("width", Math.ceil(right + margin));
  svg.setAttribute("height", y(0) + 22);
  const paths = nodes.map(() => []);
  nodes.forEach((node, index) => {
    const from = spots[index];
    held[index].forEach((child) => {
      const to = child.spot ? { x: child.spot.x, y: y(0) - 11 } : { x: spots[child.node].x, y: y(spots[child.node].height) - 11 };
      const start = y(from.height) + 5;
      paths[index].push(make("path", { d: `M${from.x} ${start} L${to.x} ${to.y}` }));
    });
  });
  const labels = nodes.map((node, index) => {
    const spot = spots[index];
    const made = node.label.startsWith("@") || node.label.endsWith("'") || node.label.endsWith("*");
    const label = make("text", { x: spot.x, y: y(spot.height), class: made ? "label made" : "label" });
    label.textContent = node.label;
    const box = make("rect", { x: spot.x - 18, y: y(spot.height) - 16, width: 36, height: 24, rx: 5, class: "box", tabindex: 0, role: "button" });
    box.setAttribute("aria-label", `${node.label}: ${data.source.slice(node.span[0], node.span[1]).join(" ")}`);
    box.addEventListener("click", () => onNode(index));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onNode(index);
    });
    return label;
  });
  leaves.forEach((leaf) => {
    leaf.mark = make("text", { x: leaf.x, y: y(0) + 4, class: "word" });
    leaf.mark.textContent = leaf.text;
  });
  const within = (span, words) => words.some((word) => span[0] <= word && word < span[1]);
  return {
    // Marks the part of the tree that a step's rule matched: from its node down to its words and to other steps' nodes.
    show(step, heads, linked, scroll) {
      labels.forEach((label) => label.classList.remove("treelet"));
      paths.flat().forEach((path) => path.classList.remove("treelet"));
      leaves.forEach((leaf) => {
        leaf.mark.classList.toggle("own", !!step && within(leaf.span, step.source));
        leaf.mark.classList.toggle("linked", within(leaf.span, linked));
      });
      if (!step) return;
      const open = [step.node];
      while (open.length) {
        const index = open.pop();
        labels[index].classList.add("treelet");
        if (index !== step.node && heads.has(index)) continue;
        paths[index].forEach((path) => path.classList.add("treelet"));
        held[index].forEach((child) => { if (!child.spot) open.push(child.node); });
      }
      if (!scroll) return;
      const box = svg.parentElement, spot = spots[step.node];
      box.scrollTo({ left: spot.x - box.clientWidth / 2, top: y(spot.height) - box.clientHeight / 2 });
    },
  };
}
