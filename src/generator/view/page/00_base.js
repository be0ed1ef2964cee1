// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// The data, elements, panes, places in the user's sources, and keys.

const data = JSON.parse(document.getElementById("data").textContent);

// element("div", {class: "x", onclick: f}, "text", other)
function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function scaled(n, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let k = 0;
  while (Math.abs(n) >= 1e4 && k + 1 < prefixes.length) n /= 1e3, ++k;
  const digits = Number.isInteger(n) && n < 1e4 ? String(n) : Number(n.toPrecision(4)).toString();
  return digits + " " + prefixes[k] + unit;
}

function column(title, note, ...right) {
  const head = element("div", {class: "head"}, element("h2", {}, title), element("span", {class: "note"}, note || ""),
    element("span", {class: "right"}, ...right));
  const body = element("div", {class: "body", tabindex: 0});
  const whole = element("section", {class: "column", "aria-label": title}, head, body);
  return {whole, head, body, note: head.querySelector(".note"), title: head.querySelector("h2")};
}

// ---- panes: each {name, title, make(), shown(), key(event), restyle()}; all but the first are optional
const panes = [];
let current = null;

function addPane(pane) {
  pane.element = element("div", {class: "pane", role: "tabpanel", id: "pane-" + pane.name, "aria-label": pane.title});
  pane.made = false;
  panes.push(pane);
}

function show(name, detail) {
  const pane = panes.find((p) => p.name === name) || panes[0];
  if (!pane.made) pane.made = true, pane.make(pane.element);
  const focused = document.activeElement;  // keys are not for what can no longer be seen
  if (focused && focused.closest(".pane") && !pane.element.contains(focused)) focused.blur();
  for (const p of panes) {
    p.element.classList.toggle("shown", p === pane);
    p.tab.setAttribute("aria-selected", p === pane ? "true" : "false");
    p.tab.tabIndex = p === pane ? 0 : -1;
  }
  current = pane;
  if (pane.shown) pane.shown(detail);
  remember(pane.name, pane.detail ? pane.detail() : "");
}

function remember(name, detail) {
  history.replaceState(null, "", "#" + name + (detail === "" || detail === undefined ? "" : "/" + detail));
}

function fromAddress() {
  const [name, detail] = location.hash.slice(1).split("/");
  show(name || panes[0].name, detail);
}

// ---- places: [file, line]
const placeText = (place) => place ? data.sources[place[0]].name + ":" + place[1] : "";
const samePlace = (a, b) => Boolean(a && b && a[0] === b[0] && a[1] === b[1]);

function placeLink(place, text) {
  if (!place) return element("span", {}, text || "");
  return element("a", {class: "place", tabindex: 0, role: "link", onclick: () => show("schedule", "at:" + place.join(":")),
    onkeydown: (e) => { if (e.key === "Enter") show("schedule", "at:" + place.join(":")); }}, text || placeText(place));
}

// ---- text whose lines can be marked. lines: [{text, n, class, link}]
function textBlock(lines, onclick) {
  const block = element("div", {class: "text"});
  const rows = lines.map((line, k) => {
    const row = element("div", {class: ((line.class || "") + (line.link ? " link" : "")).trim() || undefined, "data-n": line.n === undefined ? k + 1 : line.n});
    row.textContent = line.text;
    return row;
  });
  block.append(...rows);
  if (onclick) block.addEventListener("click", (e) => {
    const row = e.target.closest(".text > div");
    const k = rows.indexOf(row);
    if (k >= 0) onclick(k);
  });
  return {block, rows, mark(wanted, scroll) {
    let first = null;
    rows.forEach((row, k) => {
      const on = wanted(k);
      row.classList.toggle("mark", on);
      if (on && !first) first = row;
    });
    if (first && scroll) intoView(first);
  }};
}

function intoView(row) {
  const box = row.closest(".body");
  if (!box) return;
  const at = row.getBoundingClientRect(), around = box.getBoundingClientRect();
  if (at.top < around.top + 20 || at.bottom > around.bottom - 20)
    box.scrollTop += at.top - around.top - around.height / 3;
}

// A file of the user's, or that it could not be read; `onclick` gets a place.
function sourceBlock(file, linked, onclick) {
  const source = data.sources[file];
  if (source.text === undefined) return null;
  const lines = source.text.replace(/\n$/, "").split("\n").map((text, k) => ({text, link: true, class: linked.has(k + 1) ? "step" : ""}));
  return textBlock(lines, (k) => onclick([file, k + 1]));
}

// ---- theme and keys
function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const p of panes) if (p.made && p.restyle) p.restyle();
}
function toggleTheme() { applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); }

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.getElementById("keys").open) return;
  // Where a key has a meaning for the element that has the focus, it keeps it.
  if (e.target.tagName === "SELECT" || (e.key === " " && ["BUTTON", "INPUT"].includes(e.target.tagName) && e.target.type !== "range")) return;
  if (e.key >= "1" && e.key <= String(panes.length)) return show(panes[Number(e.key) - 1].name);
  if (e.key === "d") return toggleTheme();
  if (e.key === "?") return document.getElementById("keys").showModal();
  if (current && current.key && current.key(e)) e.preventDefault();
});
