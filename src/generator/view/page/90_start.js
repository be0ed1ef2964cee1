// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";

function start() {
  document.getElementById("title").textContent = data.function;
  document.getElementById("subtitle").textContent = (data.generator !== data.function ? data.generator + ", " : "") + data.target;
  if (data.refusal) panes.unshift(panes.splice(panes.indexOf(refusalPane), 1)[0]);
  const tabs = document.getElementById("tabs");
  panes.forEach((p, k) => {
    p.tab = element("button", {type: "button", role: "tab", id: "tab-" + p.name, "aria-controls": "pane-" + p.name, onclick: () => show(p.name)}, element("kbd", {}, k + 1), p.title);
    tabs.append(p.tab);
    document.getElementById("main").append(p.element);
  });
  document.getElementById("theme").addEventListener("click", toggleTheme);
  document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
  const dark = matchMedia("(prefers-color-scheme: dark)");
  applyTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => applyTheme(dark.matches ? "dark" : "light"));
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
  document.body.dataset.ready = "yes";
}

start();
