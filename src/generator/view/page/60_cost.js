// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// What explain says, as charts.

const costPane = {name: "cost", title: "Cost"};

function chart(title, note, svg, wide) {
  const box = element("section", {class: "chart" + (wide ? " wide" : "")}, element("h2", {}, title), element("p", {}, note || ""));
  box.insertAdjacentHTML("beforeend", svg);
  return box;
}

// Horizontal bars: [{name, value, text, of}]; `of`: a second bar behind it, the most there is.
function bars(rows, unit) {
  const left = 118, width = 150, h = 22, most = Math.max(1e-30, ...rows.map((r) => Math.max(r.value, r.of || 0)));
  let svg = `<svg width="${left + width + 190}" height="${rows.length * h + 4}" role="img">`;
  rows.forEach((r, k) => {
    const y = k * h + 3;
    svg += `<text x="${left - 8}" y="${y + 13}" text-anchor="end" class="mono">${escaped(shortened(r.name, 16))}</text>`;
    if (r.of) svg += `<rect x="${left}" y="${y}" width="${width * r.of / most}" height="${h - 7}" fill="${style("--idle")}" rx="2"/>`;
    svg += `<rect class="${r.second ? "bar-2" : "bar"}" x="${left}" y="${y}" width="${Math.max(1, width * r.value / most)}" height="${h - 7}" rx="2"><title>${escaped(r.name)}</title></rect>` +
      `<text x="${left + width * Math.max(r.value, r.of || 0) / most + 8}" y="${y + 13}" class="soft">${escaped(r.text !== undefined ? r.text : scaled(r.value, unit))}</text>`;
  });
  return svg + "</svg>";
}

const power = (e) => 10 ** (((e % 3) + 3) % 3) + " " + ["", "k", "M", "G", "T", "P"][Math.max(0, Math.floor(e / 3))];

// Both axes logarithmic. points: [{name, x}]; roofs: [{name, rate}] over the slope of the bandwidth.
function roofline(points, roofs, bandwidth) {
  const w = 440, h = 260, left = 56, top = 14, right = 12, bottom = 34;
  const balance = roofs.map((r) => r.rate / bandwidth);
  const lowX = Math.min(...points.map((p) => p.x), ...balance) / 4, highX = Math.max(...points.map((p) => p.x), ...balance) * 4;
  const highY = Math.max(...roofs.map((r) => r.rate)) * 2, lowY = Math.min(lowX * bandwidth, highY / 1000);
  const X = (v) => left + (w - left - right) * Math.log(v / lowX) / Math.log(highX / lowX);
  const Y = (v) => top + (h - top - bottom) * (1 - Math.log(v / lowY) / Math.log(highY / lowY));
  let svg = `<svg width="${w}" height="${h}" role="img" aria-label="roofline">`;
  for (let e = Math.ceil(Math.log10(lowX)); 10 ** e <= highX; ++e) svg += `<line class="axis" x1="${X(10 ** e)}" x2="${X(10 ** e)}" y1="${top}" y2="${h - bottom}"/><text class="soft" text-anchor="middle" x="${X(10 ** e)}" y="${h - bottom + 14}">${10 ** e}</text>`;
  for (let e = Math.ceil(Math.log10(lowY)); 10 ** e <= highY; ++e) svg += `<line class="axis" x1="${left}" x2="${w - right}" y1="${Y(10 ** e)}" y2="${Y(10 ** e)}"/><text class="soft" text-anchor="end" x="${left - 5}" y="${Y(10 ** e) + 4}">${power(e)}</text>`;
  for (const r of roofs)
    svg += `<path class="roof" d="M${X(lowX)} ${Y(lowX * bandwidth)}L${X(r.rate / bandwidth)} ${Y(r.rate)}H${w - right}"/><text class="soft" text-anchor="end" x="${w - right - 4}" y="${Y(r.rate) - 5}">${escaped(r.name + " " + scaled(r.rate, "op/s"))}</text>`;
  for (const p of points) {
    const reach = Math.min(p.x * bandwidth, p.rate);
    svg += `<circle class="dot" r="5.5" cx="${X(p.x)}" cy="${Y(reach)}"><title>${escaped(p.name)}: ${p.x.toPrecision(4)} operations a byte, at most ${scaled(reach, "op/s")}</title></circle><text x="${X(p.x) + 9}" y="${Y(reach) + 16}">${escaped(p.name)}</text>`;
  }
  return svg + `<text class="soft" text-anchor="middle" x="${(left + w) / 2}" y="${h - 4}">operations a byte</text></svg>`;
}

// One access of a warp: lanes across, and the bank or the sector of each.
function warpPicture(a) {
  const unit = a.shared ? 4 : 32, cell = 11, left = 44;
  const known = a.bytes.filter((b) => b >= 0);
  if (!known.length) return '<p>data decides the addresses</p>';
  const width = Math.max(a.size, 1), words = [];
  a.bytes.forEach((b, lane) => { if (b >= 0) for (let k = 0; k < width; k += unit) words.push([lane, Math.floor((b + k) / unit)]); });
  if (a.shared) {
    const perBank = new Map();
    for (const [, word] of words) perBank.set(word % 32, (perBank.get(word % 32) || new Set()).add(word));
    const most = Math.max(...[...perBank.values()].map((s) => s.size)), height = 40 + Math.min(most, 32) * cell;
    let svg = `<svg width="${left + 32 * cell + 10}" height="${height}" role="img"><text x="0" y="20" class="soft">bank</text>`;
    for (let bank = 0; bank < 32; ++bank) {
      const n = (perBank.get(bank) || new Set()).size, x = left + bank * cell;
      if (bank % 8 === 0) svg += `<text class="soft" x="${x}" y="20">${bank}</text>`;
      for (let k = 0; k < Math.max(1, Math.min(n, 32)); ++k) svg += `<rect x="${x}" y="${26 + k * cell}" width="${cell - 1}" height="${cell - 1}" fill="${n === 0 ? style("--idle") : k ? style("--write") : style("--bar")}"><title>bank ${bank}: ${n} word${n === 1 ? "" : "s"}</title></rect>`;
    }
    return svg + `</svg><p>${most} word${most === 1 ? "" : "s"} of the busiest bank${most > 1 ? ": conflicts" : ": no conflict"}</p>`;
  }
  const sectors = [...new Set(words.map(([, s]) => s))].sort((x, y) => x - y);
  const index = new Map(sectors.map((s, k) => [s, k])), rows = Math.min(sectors.length, 33), least = Math.ceil(known.length * width / 32);
  let svg = `<svg width="${left + 32 * cell + 10}" height="${26 + rows * cell}" role="img"><text x="0" y="16" class="soft">lane</text>`;
  for (let lane = 0; lane < 32; lane += 8) svg += `<text class="soft" x="${left + lane * cell}" y="16">${lane}</text>`;
  for (let k = 0; k < rows; ++k) svg += `<rect x="${left}" y="${22 + k * cell}" width="${32 * cell}" height="${cell - 1}" fill="${style("--idle")}"/>`;
  for (const [lane, s] of words) if (index.get(s) < rows) svg += `<rect x="${left + lane * cell}" y="${22 + index.get(s) * cell}" width="${cell - 1}" height="${cell - 1}" fill="${style(index.get(s) < least ? "--bar" : "--bar-2")}"><title>lane ${lane}, sector ${s}</title></rect>`;
  return svg + `</svg><p>a row is a sector of 32 bytes: ${sectors.length}, ${least} at least</p>`;
}

costPane.make = function (pane) {
  this.body = element("div", {class: "body"});
  pane.append(this.body);
  this.restyle();
};

costPane.restyle = function () {
  const f = data.figures, charts = element("div", {class: "charts"});
  const at = f.sizes.map(([n, v]) => n + " = " + v).join(", ");
  const total = f.operations.reduce((s, o) => s + o.count, 0);
  if (f.operations.length) charts.append(chart("Operations", (at ? "at " + at + "; " : "") + "an fma counts as two", bars(f.operations.map((o) => ({name: o.kind, value: o.count})), "operations")));
  if (f.stages.length) {
    const list = element("ol", {style: "margin:6px 0 0;padding-left:20px"}, ...f.losses.slice(0, 5).map((text) => element("li", {style: "margin-bottom:4px"}, text)));
    const worst = chart("Worst first", f.losses.length ? "what costs a tenth or more of what the stages do at best" : "nothing costs a tenth of what full vectors take that touch each byte once", "");
    if (f.losses.length) worst.append(list);
    charts.append(worst);
  }
  const known = f.operations.filter((o) => o.rate > 0);
  if (f.bandwidth && known.length && f.arguments > 0) {
    const name = (o) => known.length > 1 ? o.kind : "";
    const points = known.map((o) => ({name: [name(o), "each byte once"].filter(Boolean).join(", "), x: total / f.arguments, rate: o.rate}));
    if (f.requested > f.arguments) points.push(...known.map((o) => ({name: [name(o), "as requested"].filter(Boolean).join(", "), x: total / f.requested, rate: o.rate})));
    charts.append(chart("Roofline of the " + f.model, `arguments ${scaled(f.arguments, "B")}, requested ${scaled(f.requested, "B")}; memory ${scaled(f.bandwidth, "B/s")}`, roofline(points, known.map((o) => ({name: o.kind, rate: o.rate})), f.bandwidth)));
  } else if (total > 0 && f.arguments > 0) {
    charts.append(chart("Intensity", `${(total / f.arguments).toPrecision(4)} operations for each byte of the arguments (${scaled(f.arguments, "B")}, each once). The table of the target has no operations or bytes a second, so no roof is drawn.`, bars(f.stages.filter((s) => s.operations > 0).flatMap((s) => s.caches.map((c) => ({name: s.name + " L" + c.level, value: c.intensity, text: c.moved > 0 ? c.intensity.toPrecision(3) + " operations a byte" : "nothing moves"}))), "")));
  }
  if (f.stages.length) {
    charts.append(chart("Points of the stages", "light: the points that differ; what is longer is computed again", bars(f.stages.map((s) => ({name: s.name, value: s.points, of: s.distinct, text: scaled(s.points, "points") + (s.lanes ? ", lanes " + Math.round(s.lanes * 100) + " %" : ", no vectors")})), "points")));
    for (const level of [1, 2, 3]) {
      const rows = f.stages.map((s) => ({s, c: s.caches.find((c) => c.level === level)})).filter((x) => x.c);
      if (rows.length) charts.append(chart(`Bytes beyond L${level}`, scaled(rows[0].c.bytes, "B") + " of cache; in words: the loop of which it holds a run", bars(rows.map(({s, c}) => ({name: s.name, value: c.moved, text: scaled(c.moved, "B") + (c.holds === "-" ? ", holds no loop" : c.holds ? ", holds " + c.holds : ", holds all")})), "B")));
    }
  }
  for (const l of f.launches) {
    const note = `${l.grid.join(" x ")} blocks of ${l.threads} threads; ${l.shared[0]} of ${l.shared[1]} B shared, ${l.registers[0]} of ${l.registers[1]} registers`;
    if (l.limits.length) {
      const least = Math.min(...l.limits.map((x) => x.blocks)), share = Math.round(100 * least * l.warps[0] / l.warps[1]);
      charts.append(chart("Occupancy of " + l.name, note + `. ${least * l.warps[0]} of ${l.warps[1]} warps (${share} %)`, bars(l.limits.map((x) => ({name: x.name, value: x.blocks, second: x.blocks === least, text: x.blocks + " blocks" + (x.blocks === least ? ", the limit" : "")})), "")));
    } else charts.append(chart("Launch " + l.name, note, ""));
    const alike = new Map();  // accesses that differ only in where they begin
    for (const a of l.accesses) {
      const key = JSON.stringify([a.buffer, a.store, a.size, a.bytes.map((b) => b - a.bytes[0])]);
      if (alike.has(key)) ++alike.get(key).n;
      else alike.set(key, {a, n: 1});
    }
    for (const {a, n} of alike.values()) charts.append(chart(`${a.buffer} ${a.store ? "store" : "load"}, ${a.shared ? "shared" : "global"}`, `the first warp of ${l.name}, ${a.size} bytes a lane${n > 1 ? "; " + n + " accesses alike" : ""}`, warpPicture(a)));
  }
  charts.append(chart("In words", "", `<pre>${escaped(f.text)}</pre>`, true));
  this.body.replaceChildren(charts);
};

if (data.figures) addPane(costPane);
