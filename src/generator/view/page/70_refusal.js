// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// A refusal, and the two iterations that it shows in conflict.

const refusalPane = {name: "refusal", title: "Refusal"};

refusalPane.drawing = function () {
  const {iterations, shared} = data.refusal;
  if (!iterations || iterations.length < 2) return "";
  const names = Object.keys(iterations[0]);
  const x = names.find((n) => iterations[0][n] !== iterations[1][n]) || names[0];
  const y = names.find((n) => n !== x);
  const range = (n) => {
    const v = iterations.map((i) => i[n] ?? 0), low = Math.min(0, ...v), high = Math.max(...v) + 2;
    return high - low > 14 ? [Math.min(...v) - 1, Math.max(Math.min(...v) + 1, Math.min(high, Math.min(...v) + 12))] : [low, high];
  };
  const [x0, x1] = range(x), [y0, y1] = y ? range(y) : [0, 0];
  const cell = 34, left = 60, top = 46, columns = x1 - x0 + 1, rows = y1 - y0 + 1;
  const width = Math.max(420, left + columns * cell + 20), height = top + rows * cell + 110;
  const at = (i) => [left + Math.max(0, Math.min(columns - 1, i[x] - x0)) * cell + cell / 2, top + (y ? Math.max(0, Math.min(rows - 1, i[y] - y0)) : 0) * cell + cell / 2];
  let svg = `<svg width="${width}" height="${height}" role="img" aria-label="two iterations in conflict"><defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="${style("--ink")}"/></marker></defs>` +
    `<text x="${left}" y="16" class="mono">${escaped(x)}</text>` + (y ? `<text x="6" y="${top + 20}" class="mono">${escaped(y)}</text>` : "");
  for (let i = x0; i <= x1; ++i) svg += `<text class="soft" text-anchor="middle" x="${left + (i - x0) * cell + cell / 2}" y="36">${i}</text>`;
  for (let j = y0; j <= y1; ++j) {
    if (y) svg += `<text class="soft" text-anchor="end" x="${left - 8}" y="${top + (j - y0) * cell + cell / 2 + 4}">${j}</text>`;
    for (let i = x0; i <= x1; ++i) {
      const own = iterations.findIndex((it) => it[x] === i && (!y || it[y] === j));
      svg += `<rect class="iteration ${own === 0 ? "one" : own === 1 ? "two" : ""}" x="${left + (i - x0) * cell + 3}" y="${top + (j - y0) * cell + 3}" width="${cell - 6}" height="${cell - 6}" rx="5"/>`;
    }
  }
  const [ax, ay] = at(iterations[0]), [bx, by] = at(iterations[1]), ey = top + rows * cell + 44, ex = Math.max(left + 60, (ax + bx) / 2);
  for (const [px, py] of [[ax, ay], [bx, by]]) svg += `<path class="arrow" marker-end="url(#head)" d="M${px} ${py + 12}C${px} ${py + 50} ${ex} ${ey - 40} ${ex} ${ey - 2}"/>`;
  const label = shared || "the same element";
  svg += `<rect class="element" x="${Math.max(4, ex - label.length * 3.6 - 12)}" y="${ey}" width="${label.length * 7.2 + 24}" height="26" rx="5"/><text class="mono" text-anchor="middle" x="${Math.max(4 + label.length * 3.6 + 12, ex)}" y="${ey + 17}">${escaped(label)}</text>`;
  return svg + "</svg>";
};

refusalPane.make = function (pane) {
  this.box = element("div", {class: "refusal"});
  pane.append(element("div", {class: "body"}, this.box));
  this.restyle();
};

refusalPane.restyle = function () {
  const r = data.refusal;
  const table = element("table", {class: "facts"});
  const row = (name, value) => { if (value) table.append(element("tr", {}, element("th", {}, name), element("td", {}, value))); };
  row("step", r.primitive), row("expected", r.expected), row("found", r.found), row("conflict", r.conflict), row("at", r.place ? placeLink(r.place) : "");
  const children = [element("div", {class: "says"}, table)];
  const drawing = this.drawing();
  if (drawing) children.push(element("h2", {}, "The two iterations"), element("div", {id: "drawing"}));
  const source = r.place && data.sources[r.place[0]];
  if (source && source.text) {
    const all = source.text.split("\n"), from = Math.max(0, r.place[1] - 6), shown = all.slice(from, r.place[1] + 5);
    children.push(element("h2", {}, placeText(r.place)), textBlock(shown.map((text, k) => ({text, n: from + k + 1, class: from + k + 1 === r.place[1] ? "mark" : ""}))).block);
  }
  const last = data.steps[data.steps.length - 1].program;
  children.push(element("h2", {}, "The program that the step was applied to"), textBlock(last.map((l) => ({text: data.lines[l[0]]}))).block);
  this.box.replaceChildren(...children);
  if (drawing) this.box.querySelector("#drawing").innerHTML = drawing;
};

if (data.refusal) addPane(refusalPane);
