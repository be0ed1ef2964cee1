// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/explain_worst.h"

#include <algorithm>

#include <ashlar/ir/print.h>

#include "report/figures_text.h"

namespace ashlar::report {
namespace {

// A line from beyond each level of cache takes as long as about so many instructions on vectors. Orders of magnitude only: 32
// to 64 bytes a cycle from the second level, some 16 from the third, 4 to 8 from memory, two vectors computed in a cycle.
constexpr double line_cost[] = {3, 8, 25};

double lanes_of(const Target& target, const StageFigures& f) { return std::max(1, target.lanes(f.type)); }

// Of each loop that a cache holds a run of, and of every level, the one whose traffic costs most.
struct Traffic {
  int level = 0;
  double cost = 0, loaded = 0, stored = 0;
};

Traffic traffic(const Target& target, const StageFigures& f) {
  Traffic worst;
  const LoopFigures& all = f.loops.front();
  for (int level = 1; level <= 3; ++level) {
    const std::int64_t bytes = target.cache_bytes(level);
    if (!bytes) continue;
    const auto held = std::find_if(f.loops.begin(), f.loops.end(),
                                   [&](const LoopFigures& l) { return l.footprint() <= static_cast<double>(bytes); });
    if (held == f.loops.begin()) break;  // this level, and all beyond, hold everything
    const LoopFigures& l = held == f.loops.end() ? f.loops.back() : *held;
    const double loaded = std::max(0.0, l.loaded() - all.loaded()), stored = std::max(0.0, l.stored() - all.stored());
    const double cost = (loaded + stored) / line_bytes * line_cost[level - 1];
    if (cost > worst.cost) worst = {level, cost, l.loaded(), l.stored()};
  }
  return worst;
}

void of_stage(const ir::Program& p, const Target& target, const StageFigures& f, std::vector<Loss>& all) {
  const double lanes = lanes_of(target, f), operations = std::max(f.operations(), f.points);
  if (f.vectors.empty()) {
    if (lanes > 1)
      all.push_back({operations * (1 - 1 / lanes),
                     "one element at a time, where a register holds " + number(lanes) + " of " + ir::text(f.type)});
  } else {
    const VectorFigures& v = f.vectors.back();
    const double own = std::min(lanes, static_cast<double>(std::max<std::int64_t>(1, v.lanes))), used = std::max(v.used, 1e-3);
    const double part = operations / lanes * (1 - v.full) / 4;  // masks, and the code of both ends
    std::string text;
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
    if (own < lanes)
      add(v.loop + " has " + number(own) + " lanes, where a register holds " + number(lanes) + " of " + ir::text(f.type));
    if (part > 0) add(percent(1 - v.full) + " of the operations in vectors of " + v.loop + " that are not full");
    if (used < 1) add(percent(1 - used) + " of the lanes" + (part > 0 ? "" : " of " + v.loop) + " without work");
    if (!text.empty()) all.push_back({operations / (own * used) - operations / lanes + part, text});
  }
  if (f.distinct > 0 && f.points > f.distinct) {
    const double again = 1 - f.distinct / f.points;
    all.push_back({operations / lanes * again, number(f.points) + " points computed where " + number(f.distinct) +
                                                   " are wanted" +
                                                   (f.inside.empty() ? "" : ", by being computed in " + f.inside)});
  }
  if (const Traffic t = traffic(target, f); t.cost > 0) {
    const LoopFigures& whole = f.loops.front();
    std::string text;
    if (t.stored > whole.stored() * 1.01)
      text = scaled(t.stored, "B") + " stored beyond L" + std::to_string(t.level) + " for " + scaled(whole.stored(), "B") +
             " of results";
    if (t.loaded > whole.loaded() * 1.01)
      text += (text.empty() ? "" : ", ") + scaled(t.loaded, "B") + " loaded" +
              (text.empty() ? " beyond L" + std::to_string(t.level) : "") + " for " + scaled(whole.loaded(), "B") +
              " that are touched";
    if (p.stage(f.stage).is_reduction() && t.stored > whole.stored() * 1.01)
      text += "; cache_write(" + f.name + ", Scope::registers) keeps sums until they are whole";
    all.push_back({t.cost, text});
  }
}

}  // namespace

std::vector<Loss> losses(const ir::Program& p, const Target& target, const std::vector<StageFigures>& stages) {
  std::vector<Loss> all;
  double best = 0;  // what the stages take in full vectors, with every byte moved once
  for (const StageFigures& f : stages) {
    best += std::max(f.operations(), f.points) / lanes_of(target, f);
    std::vector<Loss> one;
    of_stage(p, target, f, one);
    for (Loss& l : one) l.text = f.name + ": " + l.text;
    all.insert(all.end(), one.begin(), one.end());
  }
  std::erase_if(all, [&](const Loss& l) { return l.cost < best / 10; });
  std::stable_sort(all.begin(), all.end(), [](const Loss& a, const Loss& b) { return a.cost > b.cost; });
  return all;
}

}  // namespace ashlar::report
