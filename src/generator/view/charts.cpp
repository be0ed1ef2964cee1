// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/report/figures.h>
#include <ashlar/schedule/step.h>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

json stage(const StageCost& s) {
  json caches = json::array();
  for (const CacheFigures& c : s.caches)
    caches.push_back({{"level", c.level},
                      {"bytes", c.bytes},
                      {"holds", c.holds},
                      {"footprint", c.footprint},
                      {"moved", c.moved},
                      {"intensity", c.intensity}});
  return {{"name", s.name},
          {"inside", s.inside},
          {"points", s.points},
          {"distinct", s.distinct},
          {"operations", s.operations},
          {"lanes", s.lanes_used},
          {"caches", std::move(caches)}};
}

json launch(const LaunchFigures& l) {
  json limits = json::array(), warps = json::array();
  for (const LaunchFigures::Limit& limit : l.limits) limits.push_back({{"name", limit.name}, {"blocks", limit.blocks}});
  for (const WarpFigures& w : l.warps)
    warps.push_back({{"buffer", w.buffer},
                     {"store", w.store},
                     {"shared", w.shared},
                     {"size", w.elements * w.element_bytes},
                     {"bytes", w.bytes}});
  return {{"name", l.name},
          {"grid", json::array({l.grid[0], l.grid[1], l.grid[2]})},
          {"threads", l.threads},
          {"shared", json::array({l.shared_bytes, l.shared_most})},
          {"registers", json::array({l.registers, l.registers_most})},
          {"warps", json::array({l.warps_of_block, l.warps_most})},
          {"limits", std::move(limits)},
          {"accesses", std::move(warps)}};
}

}  // namespace

json charts(const Compilation& c, const Options& options) {
  const Target& target = c.schedule->target();
  const Figures f = explain_figures(*c.schedule, c.kernel, options.sizes, options.where);
  json operations = json::array(), stages = json::array(), launches = json::array();
  for (const OperationFigures& o : f.operations) operations.push_back({{"kind", o.kind}, {"count", o.count}, {"rate", o.rate}});
  for (const StageCost& s : f.stages) stages.push_back(stage(s));
  for (const LaunchFigures& l : f.launches) launches.push_back(launch(l));
  return {{"model", f.model},
          {"sizes", f.sizes},
          {"operations", std::move(operations)},
          {"arguments", f.argument_bytes},
          {"requested", f.requested_bytes},
          {"bandwidth", f.bandwidth},
          {"losses", f.losses},
          {"stages", std::move(stages)},
          {"launches", std::move(launches)},
          {"text", target.is_gpu() ? explain(c.kernel, target, options.sizes, options.where)
                                   : explain_stages(c.schedule->scheduled().program, target, options.sizes, options.where)}};
}

}  // namespace ashlar::generator::view
