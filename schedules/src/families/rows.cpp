// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/rows.h>

#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/rows.h"

namespace ashlar::schedules {

namespace detail {

int rows_of(const Schedule& s, const std::vector<Stage>& stages, Where where) {
  const ir::Stage& result = definition(s, stages.back());
  const int rank = result.spatial_rank();
  if (result.is_reduction()) return rank;
  int dims = rank;
  bool reduces = false;
  for (const Stage& stage : stages) {
    const ir::Stage& d = definition(s, stage);
    if (!d.is_reduction()) continue;
    reduces = true;
    const std::vector<Loop> loops = stage.spatial_loops(where);
    std::size_t n = loops.size();
    while (n > 0 && n + 1 > static_cast<std::size_t>(rank) && number_or(loops[n - 1].extent(where), 0) == 1) --n;
    dims = std::min(dims, static_cast<int>(n));
  }
  return reduces ? dims : std::max(0, rank - 1);
}

}  // namespace detail

void rows(Schedule& s, const std::vector<Stage>& stages, const RowsOptions& o, Where where) {
  detail::expect_processor("rows", s, where);
  if (stages.empty()) refuse("rows", "at least one stage, the result as the last one", "none", where);
  detail::expect_option("rows", "dims", o.dims, -1, where);
  detail::expect_option("rows", "unroll", o.unroll, 1, where);
  detail::expect_option("rows", "together", o.together, 0, where);
  detail::expect_power_of_two("rows", "accumulators", o.accumulators, where);
  if (o.lanes != 0) detail::expect_power_of_two("rows", "lanes", o.lanes, where);
  for (const Stage& stage : stages) {
    const ir::Stage& d = detail::definition(s, stage);
    if (d.scatters() || d.is_recurrence())
      refuse("rows", "reductions and stages that compute each element by itself",
             d.name + (d.scatters() ? ", a scatter" : ", a recurrence"), where);
  }
  const Stage result = stages.back();
  const int dims = o.dims >= 0 ? o.dims : detail::rows_of(s, stages, where);
  std::vector<Loop> outer = result.spatial_loops(where);
  if (dims > static_cast<int>(outer.size()))
    refuse("rows", "at most the " + std::to_string(outer.size()) + " dimensions of " + detail::definition(s, result).name,
           std::to_string(dims), where);
  const auto along = [&](const Stage& stage) {
    const ir::Stage& d = detail::definition(s, stage);
    return !d.is_reduction() && d.spatial_rank() > dims;
  };
  const auto lanes_of = [&](const Stage& stage) { return o.lanes > 0 ? o.lanes : detail::lanes_of(s, stage); };
  std::vector<Loop> last;  // of each stage, before its loops are fused
  for (const Stage& stage : stages) last.push_back(detail::innermost_point(stage, where));
  const auto elements = [&](const Stage& stage, Loop loop) {
    const int lanes = lanes_of(stage);
    if (lanes < 2) return;
    const Split split = stage.split(loop, lanes, Tail::guard, where);
    stage.vectorize(split.inner, where);
    if (o.unroll > 1) stage.unroll(split.outer, o.unroll, where);
  };
  outer.resize(static_cast<std::size_t>(dims));
  const bool whole = outer.empty();  // one row
  const int several = o.together > 0 ? o.together : std::max(1, s.target().vector_registers() / 8);
  detail::InterleavedRows together{.together = whole ? 1 : several, .dim = static_cast<std::size_t>(std::max(0, dims - 1))};
  Loop each;
  if (together.together > 1) {
    const Split split = result.split(outer.back(), together.together, Tail::guard, where);
    outer.back() = split.outer, each = split.inner;
  }
  const Loop row = together.at = whole ? Loop() : detail::fused(result, outer, where);
  if (!whole) {
    for (std::size_t k = stages.size() - 1; k-- > 0;) stages[k].compute_at(row, where);
    if (o.parallel) result.parallel(row, where);
  }
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const Stage stage = stages[k];
    const bool is_result = k + 1 == stages.size();
    if (detail::definition(s, stage).is_reduction()) {
      together.each = is_result ? each : Loop();
      detail::reduce_in_lanes(s, stage, is_result ? row : last[k], stage.reduction_loops(where).back(), lanes_of(stage),
                              o.accumulators, where, together);
    } else if (along(stage)) {
      elements(stage, last[k]);
    } else if (together.together > 1 && !is_result) {
      detail::points_together(stage, stage.spatial_loops(where)[together.dim], together.together, {}, {}, where);
    }
    if (!whole && !is_result && !along(stage))
      (void)s.attempt([&] { stage.store_in(Scope::stack, where); });  // one value or a few of a row
  }
  if (o.stream) result.stream_store(where);
}

}  // namespace ashlar::schedules
