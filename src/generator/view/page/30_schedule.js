// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// The steps of the schedule; the program before and after each; the user's sources beside them, linked both ways.

const schedulePane = {name: "schedule", title: "Schedule", step: 0, file: 0, layout: "both"};

// Rows [before, after] of two lists of lines; null where only one has the line (longest common subsequence).
function aligned(before, after) {
  const n = before.length, m = after.length;
  const best = Array.from({length: n + 1}, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; --i)
    for (let j = m - 1; j >= 0; --j)
      best[i][j] = before[i][0] === after[j][0] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const rows = [];
  let i = 0, j = 0, gone = [], fresh = [];
  const flush = () => {
    for (let k = 0; k < Math.max(gone.length, fresh.length); ++k) rows.push([gone[k] ?? null, fresh[k] ?? null]);
    gone = [], fresh = [];
  };
  while (i < n || j < m) {
    if (i < n && j < m && before[i][0] === after[j][0]) flush(), rows.push([i++, j++]);
    else if (j < m && (i === n || best[i][j + 1] >= best[i + 1][j])) fresh.push(j++);
    else gone.push(i++);
  }
  flush();
  return rows;
}

schedulePane.make = function (pane) {
  const layout = element("select", {"aria-label": "what to show", onchange: (e) => { this.layout = e.target.value; this.showStep(); }},
    element("option", {value: "both"}, "before | after"), element("option", {value: "after"}, "after"));
  this.list = column("Steps", data.steps.length - 1 + " in all");
  this.program = column("Program", "", layout);
  const files = element("select", {"aria-label": "source file", onchange: (e) => this.openFile(Number(e.target.value))});
  data.sources.forEach((s, k) => files.append(element("option", {value: k}, s.name)));
  this.files = files;
  this.source = column("Your code", "", data.sources.length ? files : null);
  this.list.whole.style.flex = "0 0 23%";
  this.source.whole.style.flex = "0 0 30%";
  pane.append(this.list.whole, this.program.whole, this.source.whole);
  const steps = element("ol", {class: "steps"});
  data.steps.forEach((step, k) => {
    const [call, made] = step.text.split(" -> ");
    steps.append(element("li", {onclick: () => this.showStep(k)}, element("span", {class: "n"}, k || ""),
      element("span", {}, (step.variant ? "variant " + step.variant + ": " : "") + call, made ? element("span", {class: "made"}, " → " + made) : null)));
  });
  if (data.refusal) steps.append(element("li", {class: "refused", onclick: () => show("refusal")}, element("span", {class: "n"}, "✗"), element("span", {}, data.refusal.primitive + ": refused")));
  this.list.body.append(steps);
  this.items = [...steps.children].slice(0, data.steps.length);
  const withSteps = data.steps.find((s) => s.place);
  this.linked = data.sources.map((_, file) => new Set(data.steps.filter((s) => s.place && s.place[0] === file).map((s) => s.place[1])));
  if (data.sources.length) this.openFile(withSteps ? withSteps.place[0] : 0);
  else this.source.body.append(element("p", {class: "empty"}, "No line of yours is known."));
  this.showStep(data.steps.length > 1 ? 1 : 0);
};

schedulePane.openFile = function (file) {
  this.file = file;
  this.files.value = String(file);
  const found = sourceBlock(file, this.linked[file], (place) => this.choosePlace(place));
  this.sourceText = found;
  this.source.note.textContent = found ? "bold numbers: steps were written there" : "not found here";
  this.source.body.replaceChildren(found ? found.block : element("div", {class: "padded"},
    element("p", {class: "empty"}, data.sources[file].name + " could not be read where the page was made. Lines with steps:"),
    ...[...this.linked[file]].sort((a, b) => a - b).map((line) => element("div", {}, placeLink([file, line])))));
};

schedulePane.before = function (k) {
  for (let b = k - 1; b > 0; --b) if ((data.steps[b].variant || 0) === (data.steps[k].variant || 0)) return b;
  return k > 0 ? (data.steps[k].variant ? k - 1 : 0) : -1;
};

schedulePane.showStep = function (k = this.step, scroll = true) {
  this.step = Math.max(0, Math.min(k, data.steps.length - 1));
  const step = data.steps[this.step], b = this.before(this.step);
  this.items.forEach((li, n) => li.setAttribute("aria-current", n === this.step ? "true" : "false"));
  const item = this.items[this.step];
  intoView(item);
  this.program.note.replaceChildren(step.place ? placeLink(step.place) : step.at || "");
  const after = step.program, before = b >= 0 ? data.steps[b].program : after;
  const rows = aligned(before, after);
  const line = (l, n, cls) => ({text: data.lines[l[0]], n: n + 1, class: cls, link: l[1] >= 0});
  const pad = {text: "", n: "", class: "pad"};
  const click = (list, of) => (r) => { const l = list[rows[r][of]]; if (l && l[1] >= 0) this.choosePlace([l[1], l[2]]); };
  this.blocks = [];
  if (this.layout === "both" && b >= 0) {
    const left = textBlock(rows.map(([i, j]) => i === null ? pad : line(before[i], i, j === null || before[i][0] !== after[j][0] ? "gone" : "")), click(before, 0));
    const right = textBlock(rows.map(([i, j]) => j === null ? pad : line(after[j], j, i === null || before[i][0] !== after[j][0] ? "new" : "")), click(after, 1));
    this.blocks = [{text: left, places: rows.map(([i]) => i === null ? null : before[i])}, {text: right, places: rows.map(([, j]) => j === null ? null : after[j])}];
    this.program.body.replaceChildren(element("div", {class: "both"}, element("div", {}, left.block), element("div", {}, right.block)));
  } else {
    const changed = new Set(rows.filter(([i, j]) => j !== null && (i === null || before[i][0] !== after[j][0])).map(([, j]) => j));
    const only = textBlock(after.map((l, n) => line(l, n, b >= 0 && changed.has(n) ? "new" : "")), (r) => { if (after[r][1] >= 0) this.choosePlace([after[r][1], after[r][2]]); });
    this.blocks = [{text: only, places: after}];
    this.program.body.replaceChildren(only.block);
  }
  const first = this.program.body.querySelector(".new, .gone");
  if (first && scroll) intoView(first);
  if (step.place) this.markSource(step.place);
  else if (this.sourceText) this.sourceText.mark(() => false);
  if (current === this) remember(this.name, this.step);
};

schedulePane.markSource = function (place) {
  if (place[0] !== this.file) this.openFile(place[0]);
  if (this.sourceText) this.sourceText.mark((k) => k + 1 === place[1], true);
};

// A line of the user's: its steps, and the lines of the program that come from it.
schedulePane.choosePlace = function (place) {
  this.markSource(place);
  this.items.forEach((li, k) => li.classList.toggle("mark", samePlace(data.steps[k].place, place)));
  const item = this.items.find((li) => li.classList.contains("mark"));
  if (item) intoView(item);
  for (const {text, places} of this.blocks) text.mark((k) => Boolean(places[k]) && samePlace([places[k][1], places[k][2]], place), true);
};

schedulePane.detail = function () { return this.step; };
schedulePane.shown = function (detail) {
  if (detail && detail.startsWith("at:")) this.choosePlace(detail.slice(3).split(":").map(Number));
  else if (detail !== undefined && detail !== "") this.showStep(Number(detail) || 0);
};
schedulePane.key = function (e) {
  const last = data.steps.length - 1;
  const to = {ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: last}[e.key];
  if (e.key === "Escape") {
    for (const li of this.items) li.classList.remove("mark");
    for (const {text} of this.blocks) text.mark(() => false);
  }
  if (to === undefined) return false;
  this.showStep(to);
  return true;
};

addPane(schedulePane);
