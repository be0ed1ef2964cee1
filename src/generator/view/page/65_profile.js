// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// A recording of the kernel (docs/profiling.md), which the user opens from a file: its calls as a timeline, what each stage took in
// all calls, and the lines of the sources that it stands for.

const profilePane = {name: "profile", title: "Profile", trace: null, call: 0, chosen: null};
const mostBars = 4000;  // of a timeline

// The events of a trace, or an error that says what is wrong with it.
function readTrace(text) {
  let trace;
  try { trace = JSON.parse(text); } catch (e) { throw new Error("not JSON: " + e.message); }
  if (!trace || !Array.isArray(trace.traceEvents)) throw new Error("it has no traceEvents: expected what ASHLAR_PROFILE writes");
  const kinds = ["call", "stage", "worker", "inside"];
  const events = trace.traceEvents.filter((e) => e && e.ph === "X" && kinds.includes(e.cat) && e.args && typeof e.args.kernel === "string" && Number.isFinite(e.ts) && Number.isFinite(e.dur));
  if (!events.length) throw new Error("it has no event of a kernel: was the library compiled with --profile?");
  const mine = events.filter((e) => e.args.kernel === data.function);
  if (!mine.length) throw new Error(`it has no call of ${data.function}, only of ${[...new Set(events.map((e) => e.args.kernel))].slice(0, 5).join(", ")}`);
  mine.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
  return {events: mine, calls: mine.filter((e) => e.cat === "call"), lost: Number((trace.otherData || {}).lost) || 0};
}

// A stage with a nest of its own and what it takes inside of the loops of another, or of its own, are two rows: the first contains
// the second.
const rowOf = (e) => JSON.stringify([e.name, e.args.line, e.cat === "inside"]);

// Sums over all calls, the longest first.
function stagesOf(events) {
  const rows = new Map();
  for (const e of events) {
    if (e.cat === "call") continue;
    const key = rowOf(e);
    if (!rows.has(key)) rows.set(key, {key, name: e.name, kind: e.cat === "inside" ? "inside" : "stage", line: e.args.line, loop: e.args.loop, runs: 0, time: 0, threads: 0, read: 0, written: 0});
    const r = rows.get(key);
    if (e.cat === "worker") r.threads += e.dur;
    else r.time += e.dur, r.runs += Number(e.args.calls) || 1;
    r.read += Number(e.args.bytes_read) || 0, r.written += Number(e.args.bytes_written) || 0;
  }
  return [...rows.values()].sort((a, b) => Math.max(b.time, b.threads) - Math.max(a.time, a.threads));
}

// "filters/blur.cpp:12" as a place, if the page has the file.
function placeOf(line) {
  const parts = /^(?:.*\/)?([^/]+):(\d+)$/.exec(line || "");
  const file = parts ? data.sources.findIndex((s) => s.name === parts[1]) : -1;
  return file < 0 ? null : [file, Number(parts[2])];
}

const microseconds = (us) => us >= 1e6 ? (us / 1e6).toPrecision(4) + " s" : us >= 1e3 ? (us / 1e3).toPrecision(4) + " ms" : us.toPrecision(4) + " µs";

profilePane.make = function (pane) {
  const file = element("input", {type: "file", accept: ".json,application/json", id: "trace", "aria-label": "a trace", onchange: () => this.open(file.files[0])});
  this.says = element("span", {class: "note", id: "trace-says"}, `Open a trace of ${data.function}: compile with --profile, and run the program with ASHLAR_PROFILE=trace.json.`);
  this.which = element("span", {class: "now", id: "trace-call"});
  const before = element("button", {type: "button", onclick: () => this.choose(this.call - 1)}, "←"), after = element("button", {type: "button", onclick: () => this.choose(this.call + 1)}, "→");
  this.moves = element("span", {style: "display:none;gap:6px;align-items:center"}, before, after, this.which);
  this.left = column("Stages", "");
  this.source = column("Your code", "");
  this.body = element("div", {style: "display:none;flex:1;min-width:0;min-height:0"}, this.left.whole, this.source.whole);
  pane.append(element("div", {style: "display:flex;flex-direction:column;flex:1;min-width:0"}, element("div", {class: "controls"}, file, this.moves, this.says), this.body));
  pane.addEventListener("dragover", (e) => e.preventDefault());
  pane.addEventListener("drop", (e) => { e.preventDefault(); this.open(e.dataTransfer.files[0]); });
};

profilePane.open = async function (file) {
  if (file) this.load(await file.text(), file.name);
};

profilePane.load = function (text, name) {
  try {
    this.trace = readTrace(text);
  } catch (e) {
    this.trace = null;
    this.body.style.display = this.moves.style.display = "none";
    this.says.textContent = `${name}: ${e.message}`;
    return;
  }
  const t = this.trace, total = t.calls.reduce((s, c) => s + c.dur, 0);
  this.rows = stagesOf(t.events), this.chosen = null;
  this.says.textContent = `${name}: ${t.calls.length} calls, ${microseconds(total)}` + (t.lost ? `; ${t.lost} records are lost` : "");
  this.total = total;
  this.body.style.display = "flex", this.moves.style.display = t.calls.length ? "flex" : "none";
  this.choose(0);
};

profilePane.choose = function (call) {
  if (!this.trace) return;
  this.call = Math.max(0, Math.min(call, this.trace.calls.length - 1));
  this.restyle();
};

profilePane.restyle = function () {
  if (!this.trace) return;
  const c = this.trace.calls[this.call];
  if (c) this.which.textContent = `call ${this.call + 1} of ${this.trace.calls.length}: ${microseconds(c.dur)}`;
  const parts = element("div", {class: "padded"});
  if (c) parts.insertAdjacentHTML("beforeend", this.timeline(c));
  parts.append(this.table());
  parts.addEventListener("click", (e) => { const of = e.target.closest("[data-row]"); if (of) this.mark(of.dataset.row); });
  this.left.body.replaceChildren(parts);
  this.mark(this.chosen);
};

// Threads below each other, and in each what nests.
profilePane.timeline = function (call) {
  const end = call.ts + call.dur, h = 16, left = 60, w = 620, colors = new Map(this.rows.map((r, k) => [r.key, k]));
  const all = this.trace.events.filter((e) => e.ts < end && e.ts + e.dur > call.ts), events = all.slice(0, mostBars);
  const threads = [...new Set(events.map((e) => e.tid))].sort((a, b) => a - b);
  let svg = "", y = 18;
  for (const tid of threads) {
    const open = [];
    let deepest = 0;
    svg += `<text x="0" y="${y + 12}" class="soft">thread ${tid}</text>`;
    for (const e of events.filter((x) => x.tid === tid)) {
      while (open.length && open[open.length - 1] <= e.ts + 1e-9) open.pop();
      const depth = open.length;
      open.push(e.ts + e.dur), deepest = Math.max(deepest, depth);
      const x = left + w * Math.max(0, e.ts - call.ts) / call.dur, wide = Math.max(0.5, w * Math.min(e.dur, end - e.ts) / call.dur), key = rowOf(e);
      const color = e.cat === "call" ? style("--idle") : `hsl(${Math.round(47 + 137.5 * colors.get(key)) % 360} 55% ${document.documentElement.dataset.theme === "dark" ? 42 : 72}%)`;
      svg += `<g class="event" data-row="${escaped(key)}"><rect x="${x}" y="${y + depth * h}" width="${wide}" height="${h - 2}" fill="${color}" rx="2"/>` +
        `<title>${escaped(`${e.name} (${e.cat}), ${microseconds(e.dur)}, ${e.args.line || ""}${e.args.calls > 1 ? ", " + e.args.calls + " runs" : ""}`)}</title>` +
        (wide > 40 ? `<text class="mono" x="${x + 4}" y="${y + depth * h + 11}" pointer-events="none">${escaped(shortened(e.name, Math.floor(wide / 7)))}</text>` : "") + "</g>";
    }
    y += (deepest + 1) * h + 6;
  }
  for (let k = 0; k <= 4; ++k) svg += `<text class="soft" x="${left + w * k / 4}" y="12" text-anchor="${k === 4 ? "end" : k ? "middle" : "start"}">${microseconds(call.dur * k / 4)}</text>`;
  const rest = all.length > events.length ? `<p class="empty">the first ${events.length} of ${all.length} events</p>` : "";
  return `<svg id="timeline" width="${left + w + 10}" height="${y}" role="img" aria-label="timeline of the call">${svg}</svg>${rest}`;
};

profilePane.table = function () {
  const head = element("tr", {}, ...["stage", "kind", "line", "runs", "time", "of the calls", "on threads", "bytes", "bytes a second"].map((t) => element("th", {}, t)));
  const rows = this.rows.map((r) => {
    const place = placeOf(r.line), bytes = r.read + r.written, time = r.time || r.threads;
    return element("tr", {"data-row": r.key, tabindex: 0, onkeydown: (e) => { if (e.key === "Enter") this.mark(r.key); }}, element("td", {}, r.name), element("td", {}, r.kind), element("td", {}, place ? placeLink(place) : r.line || ""), element("td", {}, r.runs || ""),
      element("td", {}, r.time ? microseconds(r.time) : ""), element("td", {}, this.total && r.time ? (100 * r.time / this.total).toFixed(1) + " %" : ""),
      element("td", {}, r.threads ? microseconds(r.threads) : ""), element("td", {}, bytes ? scaled(bytes, "B") : ""), element("td", {}, bytes && time ? scaled(bytes / time * 1e6, "B/s") : ""));
  });
  return element("table", {class: "profile"}, element("thead", {}, head), element("tbody", {}, ...rows));
};

// The bars and the row of a stage, and its line.
profilePane.mark = function (key) {
  this.chosen = key;
  for (const e of this.left.body.querySelectorAll("[data-row]")) e.classList.toggle("chosen", e.dataset.row === key);
  const row = this.rows.find((r) => r.key === key), place = row ? placeOf(row.line) : this.rows.map((r) => placeOf(r.line)).find(Boolean);
  if (!place) return this.source.body.replaceChildren(element("p", {class: "empty"}, row ? "The page has no file of " + row.line : "The page has no source of these lines."));
  const linked = new Set(this.rows.map((r) => placeOf(r.line)).filter((p) => p && p[0] === place[0]).map((p) => p[1]));
  this.source.note.textContent = data.sources[place[0]].name;
  const text = sourceBlock(place[0], linked, (at) => { const of = this.rows.find((r) => samePlace(placeOf(r.line), at)); if (of) this.mark(of.key); });
  this.source.body.replaceChildren(text ? text.block : element("p", {class: "empty"}, data.sources[place[0]].name + " could not be read where the page was made."));
  if (text) text.mark((k) => row && k + 1 === place[1], true);
};

profilePane.key = function (e) {
  if (!this.trace) return false;
  const last = this.trace.calls.length - 1, to = {ArrowLeft: this.call - 1, ArrowRight: this.call + 1, Home: 0, End: last}[e.key];
  if (e.key === "Escape") return this.mark(null), true;
  if (to === undefined) return false;
  this.choose(to);
  return true;
};

// Code of processors alone can be recorded.
if (data.code && data.code.some((c) => c.name === "assembly") && !data.code.some((c) => c.name === "ptx" || c.name === "spirv")) addPane(profilePane);
