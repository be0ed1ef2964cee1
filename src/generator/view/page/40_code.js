// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// The lowered kernel, and what back ends make of it, side by side. A line that is clicked marks its lines in all of them.

const codePane = {name: "code", title: "Code", line: -1};

codePane.make = function (pane) {
  this.columns = new Map();
  this.pane = pane;
  this.side = element("div", {style: "display:flex;flex:1;min-width:0;min-height:0"});
  this.choice = element("div", {class: "controls"}, element("span", {class: "note"}, "Click a line: what it became, and what it came from, is marked."));
  pane.append(element("div", {style: "display:flex;flex-direction:column;flex:1;min-width:0"}, this.choice, this.side));
  const device = data.code.some((c) => c.name === "ptx" || c.name === "spirv");
  const shown = new Set(device ? ["source", "kernel", "ptx", "spirv"] : ["source", "kernel", "llvm", "assembly"]);
  if (!data.code.some((c) => c.name === "llvm")) shown.add("c");
  for (const [name, title] of [["source", "your code"], ...data.code.map((c) => [c.name, c.title])]) {
    const box = element("input", {type: "checkbox", checked: shown.has(name), onchange: () => this.toggle(name, box.checked)});
    this.choice.append(element("label", {class: "key", style: "cursor:pointer"}, box, title));
    if (shown.has(name)) this.toggle(name, true);
  }
};

codePane.toggle = function (name, on) {
  const known = this.columns.get(name);
  if (!on) {
    if (known) known.whole.remove(), this.columns.delete(name);
    return;
  }
  const made = name === "source" ? this.sourceColumn() : this.codeColumn(data.code.find((c) => c.name === name));
  this.columns.set(name, made);
  const order = ["source", ...data.code.map((c) => c.name)];
  const next = order.slice(order.indexOf(name) + 1).map((n) => this.columns.get(n)).find(Boolean);
  this.side.insertBefore(made.whole, next ? next.whole : null);
  this.mark();
};

codePane.codeColumn = function (code) {
  const c = column(code.title, code.lines.length + " lines");
  c.text = textBlock(code.lines.map((text, k) => ({text, link: code.of[k] >= 0})), (k) => this.choose(code.of[k], c));
  c.of = code.of;
  c.body.append(c.text.block);
  return c;
};

codePane.sourceColumn = function () {
  const places = data.code[0].places, seen = places.filter(Boolean).map((p) => p[0]);
  const files = element("select", {"aria-label": "source file", onchange: () => open(Number(files.value))});
  data.sources.forEach((s, k) => files.append(element("option", {value: k}, s.name)));
  const c = column("Your code", "", data.sources.length ? files : null);
  const open = (file) => {
    files.value = String(file);
    c.file = file;
    const linked = new Set(places.filter((p) => p && p[0] === file).map((p) => p[1]));
    c.text = sourceBlock(file, linked, (place) => this.choosePlace(place));
    c.body.replaceChildren(c.text ? c.text.block : element("p", {class: "empty"}, data.sources[file].name + " could not be read where the page was made."));
  };
  c.open = open;
  if (data.sources.length) open(seen.length ? seen[0] : 0);
  return c;
};

// What is marked is a set of lines of the kernel.
codePane.choose = function (line, from) {
  if (line < 0) return;
  this.line = line, this.lines = new Set([line]), this.from = from;
  const place = data.code[0].places[line];
  this.place = place;
  this.mark();
  remember(this.name, line);
};

codePane.choosePlace = function (place) {
  this.lines = new Set(data.code[0].places.map((p, k) => samePlace(p, place) ? k : -1).filter((k) => k >= 0));
  this.line = this.lines.size ? Math.min(...this.lines) : -1;
  this.place = place, this.from = this.columns.get("source");
  this.mark();
};

codePane.mark = function () {
  if (!this.lines) return;
  for (const [name, c] of this.columns) {
    const scroll = c !== this.from;
    if (name === "source") {
      if (!this.place) continue;
      if (c.file !== this.place[0]) c.open(this.place[0]);
      if (c.text) c.text.mark((k) => k + 1 === this.place[1], scroll);
      continue;
    }
    c.text.mark((k) => this.lines.has(c.of[k]), scroll);
    const n = c.of.filter((k) => this.lines.has(k)).length;
    c.note.textContent = name === "kernel" ? "line " + (this.line + 1) : n + " of " + c.of.length + " lines";
  }
};

codePane.detail = function () { return this.line >= 0 ? this.line : ""; };
codePane.shown = function (detail) { if (detail !== undefined && detail !== "" && Number(detail) < data.code[0].lines.length) this.choose(Number(detail)); };
codePane.key = function (e) {
  const step = {ArrowUp: -1, ArrowDown: 1}[e.key];
  if (e.key === "Escape" && this.lines) this.lines = new Set(), this.place = null, this.mark();
  if (!step) return false;
  this.choose(Math.max(0, Math.min(this.line + step, data.code[0].lines.length - 1)));
  return true;
};

if (data.code) addPane(codePane);
