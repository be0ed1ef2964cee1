// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// The stages as a graph, in layers: what a stage reads stands above it.

const graphPane = {name: "program", title: "Program", chosen: 0};

graphPane.layers = function () {
  const {nodes, edges} = data.graph;
  const depth = new Map(nodes.map((n) => [n.id, 0]));
  for (let round = 0; round < nodes.length; ++round) {
    let changed = false;
    for (const [from, to] of edges)
      if (from !== to && depth.has(from) && depth.get(to) < depth.get(from) + 1) depth.set(to, depth.get(from) + 1), changed = true;
    if (!changed) break;
  }
  // What has no input of its own stands right above its first reader.
  for (const n of nodes) {
    const readers = edges.filter(([from, to]) => from === n.id && to !== n.id).map(([, to]) => depth.get(to));
    if (readers.length && !edges.some(([from, to]) => to === n.id && from !== n.id)) depth.set(n.id, Math.min(...readers) - 1);
  }
  const layers = [];
  for (const n of nodes) (layers[depth.get(n.id)] = layers[depth.get(n.id)] || []).push(n);
  return layers.filter(Boolean);
};

// The order within a layer: by the middle of what is read, so that few edges cross.
graphPane.arrange = function (layers) {
  const x = new Map();
  layers[0].forEach((n, k) => x.set(n.id, k));
  for (let sweep = 0; sweep < 4; ++sweep)
    layers.forEach((layer, l) => {
      if (l === 0 && sweep === 0) return;
      const beside = (n) => data.graph.edges.filter(([a, b]) => a !== b && (a === n.id || b === n.id)).map(([a, b]) => x.get(a === n.id ? b : a)).filter((v) => v !== undefined);
      const middle = new Map(layer.map((n, k) => {
        const at = beside(n);
        return [n.id, at.length ? at.reduce((s, v) => s + v, 0) / at.length : k];
      }));
      layer.sort((a, b) => middle.get(a.id) - middle.get(b.id));
      layer.forEach((n, k) => x.set(n.id, k - (layer.length - 1) / 2));
    });
};

const shortened = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;

graphPane.draw = function () {
  const layers = this.layers();
  this.arrange(layers);
  const gapX = 28, gapY = 54, at = new Map();
  const lines = (n) => [n.type + (n.memory && n.memory !== "argument" ? " in " + n.memory : "")].concat(n.box ? n.box.split("\n") : [], n.at ? ["at " + n.at] : n.inlined ? ["inlined"] : []).map((l) => shortened(l, 46));
  const width = (n) => Math.max(110, 24 + Math.max(n.name.length * 8.5, ...lines(n).map((l) => l.length * 6.8)));
  let height = 16, total = 0;
  const rows = layers.map((layer) => ({layer, width: layer.reduce((s, n) => s + width(n) + gapX, -gapX), height: Math.max(...layer.map((n) => 30 + lines(n).length * 15))}));
  total = Math.max(...rows.map((r) => r.width)) + 40;
  for (const row of rows) {
    let x = (total - row.width) / 2;
    for (const n of row.layer) {
      at.set(n.id, {x, y: height, w: width(n), h: 30 + lines(n).length * 15});
      x += width(n) + gapX;
    }
    height += row.height + gapY;
  }
  height -= gapY - 16;
  const edges = new Map();
  for (const [from, to, text] of data.graph.edges) {
    const key = from + " " + to;
    edges.set(key, {from, to, texts: (edges.has(key) ? edges.get(key).texts : []).concat(text)});
  }
  let svg = `<svg width="${total}" height="${height}" viewBox="0 0 ${total} ${height}" role="img" aria-label="graph of the stages">` +
    `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="${style("--soft")}"/></marker></defs>`;
  for (const {from, to, texts} of edges.values()) {
    const a = at.get(from), b = at.get(to);
    if (!a || !b) continue;
    const x1 = a.x + a.w / 2, y1 = a.y + a.h, x2 = b.x + b.w / 2, y2 = b.y - 2;
    const path = from === to ? `M${a.x + a.w} ${a.y + 14}c34 0 34 ${a.h - 28} 2 ${a.h - 28}` : `M${x1} ${y1}C${x1} ${y1 + gapY * .6} ${x2} ${y2 - gapY * .6} ${x2} ${y2}`;
    svg += `<path class="edge" data-from="${from}" data-to="${to}" d="${path}" marker-end="url(#tip)"><title>${escaped(texts.join("\n"))}</title></path>`;
  }
  for (const n of data.graph.nodes) {
    const b = at.get(n.id);
    const kind = n.output ? "output" : n.kind.split(" ")[0];
    svg += `<g class="node ${kind}${n.inlined ? " inlined" : ""}" data-id="${n.id}" tabindex="0" role="button" aria-label="${escaped(n.kind + " " + n.name)}" transform="translate(${b.x} ${b.y})"><rect width="${b.w}" height="${b.h}"/>` +
      `<text class="mono" style="font-size:13px;font-weight:600" x="12" y="20">${escaped(n.name)}</text>` +
      lines(n).map((l, k) => `<text class="mono soft" x="12" y="${36 + k * 15}">${escaped(l)}</text>`).join("") + "</g>";
  }
  return svg + "</svg>";
};

// Without the spaces that all but the lines of the head begin with.
function dedented(lines) {
  const depth = (l) => l.length - l.trimStart().length;
  const inner = Math.min(...lines.filter((l) => depth(l) > 2).map(depth));
  return lines.map((l) => depth(l) > 2 ? l.slice(inner) : l.trimStart());
}

graphPane.make = function (pane) {
  const graph = column("Stages", "what each reads stands above it");
  const facts = column("", "");
  facts.whole.style.flex = "0 0 38%";
  graph.body.classList.add("padded");
  facts.body.classList.add("padded");
  this.graph = graph, this.facts = facts;
  pane.append(graph.whole, facts.whole);
  this.restyle();
  const first = data.graph.nodes.find((n) => n.output) || data.graph.nodes[0];
  if (first) this.choose(first.id);
};

graphPane.restyle = function () {
  this.graph.body.innerHTML = data.graph.nodes.length ? this.draw() : "";
  for (const g of this.graph.body.querySelectorAll(".node")) {
    g.addEventListener("click", () => this.choose(Number(g.dataset.id)));
    g.addEventListener("keydown", (e) => { if (e.key === "Enter") this.choose(Number(g.dataset.id)); });
  }
  if (this.chosen) this.choose(this.chosen);
};

graphPane.choose = function (id) {
  this.chosen = id;
  const node = data.graph.nodes.find((n) => n.id === id);
  for (const g of this.graph.body.querySelectorAll(".node")) g.classList.toggle("chosen", Number(g.dataset.id) === id);
  for (const e of this.graph.body.querySelectorAll(".edge")) e.classList.toggle("chosen", Number(e.dataset.from) === id || Number(e.dataset.to) === id);
  this.facts.title.textContent = node.name;
  this.facts.note.textContent = node.kind + (node.output ? ", an output" : "");
  const table = element("table", {class: "facts"});
  const row = (name, value) => { if (value) table.append(element("tr", {}, element("th", {}, name), element("td", {}, value))); };
  row("type", node.type);
  row("box", node.box);
  row("computed", node.at ? "in " + node.at : node.inlined ? "where it is read: inlined" : node.formula ? "at the root" : "");
  row("stored in", node.memory);
  row("formula", node.formula);
  row("reads", data.graph.edges.filter(([, to]) => to === id).map(([, , text]) => text).join("\n"));
  row("read by", [...new Set(data.graph.edges.filter(([from, to]) => from === id && to !== id).map(([, to]) => data.graph.nodes.find((n) => n.id === to).name))].join(", "));
  row("defined at", node.place ? placeLink(node.place) : "");
  const last = data.steps[data.steps.length - 1].program.filter((l) => l[3] === id);
  this.facts.body.replaceChildren(table);
  if (last.length && node.formula !== undefined) {
    this.facts.body.append(element("h2", {style: "margin:14px 0 4px"}, "in the scheduled program"));
    this.facts.body.append(textBlock(dedented(last.map((l) => data.lines[l[0]])).map((text, k) => ({text, n: "", link: last[k][1] >= 0})), (k) => { if (last[k][1] >= 0) show("schedule", "at:" + last[k][1] + ":" + last[k][2]); }).block);
  }
};

addPane(graphPane);
