// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
// Memory over time: the bytes of live temporaries, and below them the life of each allocation.

const chartLeft = 110, chartWidth = 420;
runPane.chartX = function (frame) { return chartLeft + chartWidth * frame / Math.max(1, this.frames); };

runPane.drawChart = function () {
  const r = data.run;
  if (!r.lives.length) {
    this.chart.innerHTML = '<p class="empty" style="padding:0">No temporaries: the arguments are all the memory there is.</p>';
    return;
  }
  const changes = [];
  for (const [, from, to, bytes] of r.lives) changes.push([from, bytes], [to, -bytes]);
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let live = 0, peak = 0;
  const steps = changes.map(([frame, bytes]) => (live += bytes, peak = Math.max(peak, live), [frame, live]));
  const top = 18, height = 90, y = (bytes) => top + height - height * bytes / Math.max(1, peak);
  let path = `M${this.chartX(0)} ${y(0)}`;
  for (const [frame, bytes] of steps) path += `H${this.chartX(frame)}V${y(bytes)}`;
  path += `H${this.chartX(this.frames)}V${y(0)}Z`;
  const used = [...new Set(r.lives.map(([b]) => b))], rowHeight = 18, below = top + height + 14;
  const total = below + used.length * rowHeight + 20;
  let svg = `<svg width="${chartLeft + chartWidth + 16}" height="${total}" role="img" aria-label="memory over time">` +
    `<text x="${chartLeft - 8}" y="${top + 8}" text-anchor="end" class="soft">${scaled(peak, "B")}</text>` +
    `<text x="${chartLeft - 8}" y="${top + height}" text-anchor="end" class="soft">0 B</text>` +
    `<text x="${chartLeft}" y="11" class="soft">live temporaries, ${r.lives.length} allocation${r.lives.length === 1 ? "" : "s"}</text>` +
    `<path d="${path}" fill="${style("--bar")}" fill-opacity=".35" stroke="${style("--bar")}"/>`;
  used.forEach((b, row) => {
    const at = below + row * rowHeight;
    svg += `<text x="${chartLeft - 8}" y="${at + 12}" text-anchor="end" class="mono">${escaped(shortened(r.buffers[b].name, 15))}</text>` +
      `<line class="axis" x1="${chartLeft}" x2="${chartLeft + chartWidth}" y1="${at + rowHeight - 1}" y2="${at + rowHeight - 1}"/>`;
    const own = r.lives.filter(([x]) => x === b);
    own.forEach(([, from, to, bytes], n) => {
      const x = this.chartX(from), w = Math.max(1, this.chartX(to) - x - .5);
      svg += `<rect x="${x}" y="${at + 2}" width="${w}" height="${rowHeight - 5}" rx="2" fill="${style(n % 2 ? "--bar-2" : "--bar")}"><title>${escaped(r.buffers[b].name)}: ${scaled(bytes, "B")}, moments ${from + 1} to ${to}</title></rect>`;
    });
  });
  svg += `<text x="${chartLeft}" y="${total - 4}" class="soft">time</text>` +
    `<rect id="cursor" x="${this.chartX(this.frame + .5)}" y="${top - 4}" width="1.5" height="${total - top - 14}" fill="${style("--write")}"/></svg>`;
  this.chart.innerHTML = svg;
  this.cursor = this.chart.querySelector("#cursor");
  const drawn = this.chart.querySelector("svg");
  drawn.style.cursor = "pointer";
  drawn.addEventListener("click", (e) => this.to(Math.floor((e.clientX - drawn.getBoundingClientRect().left - chartLeft) / chartWidth * this.frames)));
};
