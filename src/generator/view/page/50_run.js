// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// A run on small extents: which point is computed when, by whom, from what; and the memory that lives meanwhile.

const runPane = {name: "run", title: "Run", frame: Infinity,  // at first all of it: the colors say when
   playing: false, mode: "when", speed: 20};

// Places on a scale of colors from dark to light, readable on both themes.
const stops = [[68, 40, 120], [52, 90, 150], [32, 140, 141], [92, 195, 98], [230, 210, 60]];
function timeColor(share) {
  const x = Math.max(0, Math.min(1, share)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(x)), f = x - k;
  return `rgb(${stops[k].map((c, i) => Math.round(c + (stops[k + 1][i] - c) * f)).join(",")})`;
}
const groupColor = (n) => n < 0 ? style("--idle") : `hsl(${(n * 137.5) % 360} 55% ${46 + (n % 3) * 9}%)`;

// Two dimensions of a box are drawn: the last two that are longer than 1. Those before them are stacked in rows.
function gridOf(low, extents, kinds) {
  const shown = extents.map((_, d) => d).filter((d) => !kinds || kinds[d] !== "reduced");
  const long = shown.filter((d) => extents[d] > 1);
  const dims = long.length ? long : shown.slice(-1);
  const w = dims.length ? dims[dims.length - 1] : -1;
  const rows = dims.slice(0, -1);
  return {
    width: w < 0 ? 1 : extents[w], height: rows.reduce((n, d) => n * extents[d], 1), x: w, rows,
    cell(coords) {
      let y = 0;
      for (const d of rows) y = y * extents[d] + coords[d] - low[d];
      return y * this.width + (w < 0 ? 0 : coords[w] - low[w]);
    }
  };
}
function unflat(n, low, extents) {
  const c = new Array(extents.length);
  for (let d = extents.length - 1; d >= 0; --d) c[d] = low[d] + n % extents[d], n = Math.floor(n / extents[d]);
  return c;
}

runPane.prepare = function () {
  const r = data.run, e = r.events, nb = r.buffers.length;
  this.starts = [];
  this.events = [];
  let reads = 0, writes = 0;
  this.grids = r.stages.map((s) => gridOf(s.low, s.extents, s.kinds));
  // Of buffers only what is touched is drawn: padding is often long.
  const low = r.buffers.map(() => null), high = r.buffers.map(() => null);
  const touch = (list) => {
    for (const a of list) {
      const b = a % nb, at = unflat(Math.floor(a / nb), r.buffers[b].low, r.buffers[b].extents);
      low[b] = low[b] ? low[b].map((v, d) => Math.min(v, at[d])) : [...at];
      high[b] = high[b] ? high[b].map((v, d) => Math.max(v, at[d])) : [...at];
    }
  };
  touch(e.reads), touch(e.writes);
  this.bufferGrids = r.buffers.map((b, k) => low[k] ? gridOf(low[k], high[k].map((h, d) => h - low[k][d] + 1)) : null);
  const access = (a) => {
    const b = a % nb;
    return [b, this.bufferGrids[b].cell(unflat(Math.floor(a / nb), r.buffers[b].low, r.buffers[b].extents))];
  };
  for (let k = 0; k < e.stage.length; ++k) {
    if (k === 0 || e.frame[k] !== e.frame[k - 1]) this.starts.push(k);
    const s = e.stage[k], point = unflat(e.point[k], r.stages[s].low, r.stages[s].extents);
    const nr = Math.floor(e.counts[k] / 8), nw = e.counts[k] % 8;
    this.events.push({stage: s, point, cell: this.grids[s].cell(point), frame: e.frame[k], reads: e.reads.slice(reads, reads += nr).map(access), writes: e.writes.slice(writes, writes += nw).map(access)});
  }
  this.starts.push(e.stage.length);
  this.frames = this.starts.length - 1;
};

runPane.make = function (pane) {
  const r = data.run;
  if (r.why) return pane.append(element("p", {class: "empty"}, "No run is drawn: " + r.why));
  this.prepare();
  this.frame = Math.min(this.frame, this.frames - 1);
  const left = column("Iterations", "at " + (r.sizes.map(([n, v]) => n + " = " + v).join(", ") || "the extents as they are") + (r.whole ? "" : "; only the first " + r.events.stage.length + " points"));
  const right = column("Memory", "");
  right.whole.style.flex = "0 0 46%";
  this.left = left, this.right = right;
  this.play = element("button", {type: "button", onclick: () => this.toggle(), title: "space"}, "play");
  this.slider = element("input", {type: "range", min: 0, max: this.frames - 1, value: 0, "aria-label": "moment", oninput: () => this.to(Number(this.slider.value))});
  this.now = element("span", {class: "now"});
  const modes = [["when", "colored by time"], ["worker", "by iteration of the parallel loop"], ["block", "by block"], ["thread", "by thread"]].filter(([m]) => m === "when" || r.events[m]);
  const mode = element("select", {"aria-label": "colors", onchange: (e) => { this.mode = e.target.value; this.draw(); }}, ...modes.map(([m, t]) => element("option", {value: m}, t)));
  const speed = element("select", {"aria-label": "speed", onchange: (e) => { this.speed = Number(e.target.value); }}, ...[4, 20, 60, 240].map((v) => element("option", {value: v, selected: v === this.speed}, v + " / s")));
  left.whole.insertBefore(element("div", {class: "controls"}, this.play, this.slider, this.now, speed, mode), left.body);
  this.legend = element("span", {class: "key"});
  left.head.querySelector(".right").append(this.legend);
  right.head.querySelector(".right").append(element("span", {class: "key"}, element("i", {style: "border-color:var(--read)"}), "read"), element("span", {class: "key"}, element("i", {style: "border-color:var(--write)"}), "written"));
  left.cards = element("div", {class: "cards"});
  this.stageCards = new Array(r.stages.length);
  for (const k of [...new Set(r.events.stage)]) {  // in the order in which they begin
    const s = r.stages[k], iters = s.iters.map((n, d) => n + (s.kinds[d] === "spatial" ? "" : " (" + s.kinds[d] + ")")).join(", ");
    this.stageCards[k] = this.card(left.cards, s.name, iters, this.grids[k], (cell) => this.first(k, cell));
  }
  left.body.append(left.cards);
  this.chart = element("div", {class: "padded"});
  const cards = element("div", {class: "cards"});
  this.bufferCards = new Array(r.buffers.length).fill(null);
  for (const temporary of [true, false])
    r.buffers.forEach((b, k) => {
      if (b.temporary === temporary && this.bufferGrids[k])
        this.bufferCards[k] = this.card(cards, b.name, (b.temporary ? "in " + b.scope : "argument") + (b.ring ? ", a ring" : "") + ", " + b.extents.join(" x "), this.bufferGrids[k], null, 270);
    });
  right.body.append(this.chart, cards);
  pane.append(left.whole, right.whole);
  this.drawChart();
  this.to(this.frame);
};

runPane.card = function (into, name, note, grid, click, most = 400) {
  const canvas = element("canvas", {role: "img", "aria-label": name});
  const text = element("p", {}, note);
  const whole = element("div", {class: "card"}, element("h3", {}, name), text, canvas);
  const size = Math.max(1, Math.min(13, Math.floor(most / Math.max(grid.width, 1)), Math.floor(340 / Math.max(grid.height, 1))));
  canvas.width = grid.width * size + 1, canvas.height = grid.height * size + 1;
  if (click) {
    canvas.style.cursor = "pointer", canvas.title = "click: the moment when this point is first computed";
    canvas.addEventListener("click", (e) => {
      const box = canvas.getBoundingClientRect(), f = canvas.width / box.width;
      click(Math.min(grid.height - 1, Math.floor((e.clientY - box.top) * f / size)) * grid.width + Math.min(grid.width - 1, Math.floor((e.clientX - box.left) * f / size)));
    });
  }
  into.append(whole);
  return {whole, canvas, text, note, size, grid};
};

runPane.first = function (stage, cell) {
  const e = this.events.find((x) => x.stage === stage && x.cell === cell);
  if (e) this.to(e.frame);
};

runPane.colorOf = function (k) {
  return this.mode === "when" ? timeColor(this.events[k].frame / Math.max(1, this.frames - 1)) : groupColor(data.run.events[this.mode][k]);
};

function paint(card, colors, outlines) {
  const g = card.canvas.getContext("2d"), s = card.size, idle = style("--idle");
  g.clearRect(0, 0, card.canvas.width, card.canvas.height);
  const gap = s > 4 ? 1 : 0;
  for (let y = 0; y < card.grid.height; ++y)
    for (let x = 0; x < card.grid.width; ++x) {
      g.fillStyle = colors[y * card.grid.width + x] || idle;
      g.fillRect(x * s, y * s, s - gap, s - gap);
    }
  for (const [cells, color] of outlines) {
    g.strokeStyle = g.fillStyle = color;
    g.lineWidth = Math.max(1, Math.min(3, s / 4));
    for (const cell of cells) {
      const x = (cell % card.grid.width) * s, y = Math.floor(cell / card.grid.width) * s;
      if (s > 4) g.strokeRect(x + 1, y + 1, s - 3, s - 3);
      else g.fillRect(x, y, s, s);
    }
  }
}

runPane.draw = function () {
  const r = data.run, end = this.starts[this.frame + 1], begin = this.starts[this.frame];
  const done = this.stageCards.map(() => []), held = r.buffers.map(() => []), since = r.buffers.map((b) => b.temporary ? Infinity : 0);
  for (const [b, from, to] of r.lives) if (from <= this.frame && this.frame < to) since[b] = Math.min(since[b], from);
  for (let k = 0; k < end; ++k) {
    const e = this.events[k], color = this.colorOf(k);
    done[e.stage][e.cell] = color;
    for (const [b, cell] of e.writes) if (e.frame >= since[b]) held[b][cell] = color;
  }
  const here = this.stageCards.map(() => new Set()), reads = r.buffers.map(() => new Set()), writes = r.buffers.map(() => new Set());
  for (let k = begin; k < end; ++k) {
    const e = this.events[k];
    here[e.stage].add(e.cell);
    for (const [b, cell] of e.reads) reads[b].add(cell);
    for (const [b, cell] of e.writes) writes[b].add(cell);
  }
  const read = style("--read"), write = style("--write");
  this.stageCards.forEach((card, s) => {
    paint(card, done[s], [[here[s], write]]);
    card.whole.classList.toggle("busy", here[s].size > 0);
    if (here[s].size) {
      const e = this.events.slice(begin, end).find((x) => x.stage === s), stage = r.stages[s];
      card.text.textContent = stage.iters.map((n, d) => n + " = " + e.point[d]).join(", ") + (here[s].size > 1 ? " and " + (here[s].size - 1) + " more" : "");
    } else card.text.textContent = card.note;
  });
  this.bufferCards.forEach((card, b) => {
    if (!card) return;
    paint(card, held[b], [[reads[b], read], [writes[b], write]]);
    card.whole.style.opacity = since[b] === Infinity ? .4 : 1;
    card.whole.classList.toggle("busy", writes[b].size > 0);
    card.whole.classList.toggle("read", reads[b].size > 0 && writes[b].size === 0);
  });
  const names = [...new Set(this.events.slice(begin, end).map((e) => r.stages[e.stage].name))];
  this.now.textContent = this.frame + 1 + " of " + this.frames + "  " + names.join(", ");
  this.legend.replaceChildren(...(this.mode === "when" ? ["first ", element("span", {class: "scale", style: `background:linear-gradient(90deg,${[0, .25, .5, .75, 1].map(timeColor).join(",")})`}), " last"] : ["one color for each"]));
  if (this.cursor) this.cursor.setAttribute("x", this.chartX(this.frame + .5));
};

runPane.to = function (frame) {
  this.frame = Math.max(0, Math.min(frame, this.frames - 1));
  this.slider.value = String(this.frame);
  this.draw();
};

runPane.toggle = function () {
  this.playing = !this.playing;
  this.play.textContent = this.playing ? "stop" : "play";
  if (!this.playing) return;
  if (this.frame >= this.frames - 1) this.to(0);
  let last = performance.now(), due = 0;
  const tick = (now) => {
    if (!this.playing) return;
    due += (now - last) * this.speed / 1000, last = now;
    const steps = Math.floor(due);
    if (steps > 0) due -= steps, this.to(this.frame + steps);
    if (this.frame >= this.frames - 1) return this.toggle();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
};

runPane.restyle = function () {
  if (data.run.why) return;
  this.drawChart();
  this.draw();
};
runPane.detail = function () { return this.frame; };
runPane.shown = function (detail) { if (detail !== undefined && detail !== "" && !data.run.why) this.to(Number(detail) || 0); };
runPane.key = function (e) {
  if (data.run.why) return false;
  if (e.key === " ") return this.toggle(), true;
  const to = {ArrowLeft: this.frame - 1, ArrowRight: this.frame + 1, Home: 0, End: this.frames - 1}[e.key];
  if (to === undefined) return false;
  this.to(to);
  return true;
};

addPane(runPane);
