// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/elementwise.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

void elementwise(Schedule& s, const Stage& stage, const ElementwiseOptions& o, Where where) {
  detail::expect_processor("elementwise", s, where);
  {
    const ir::Stage& d = detail::definition(s, stage);
    if (d.is_reduction() || d.scatters() || d.is_recurrence())
      refuse("elementwise", "a stage whose elements are computed each by itself",
             d.name + (d.scatters()       ? ", a scatter (schedules::scatter_add)"
                       : d.is_reduction() ? ", a reduction (schedules::rows, schedules::reduction)"
                                          : ", a recurrence"),
             where);
  }
  detail::expect_option("elementwise", "lanes", o.lanes, 0, where);
  detail::expect_option("elementwise", "unroll", o.unroll, 1, where);
  for (const Stage& p : o.inlined) p.inline_(where);
  std::vector<Loop> loops = stage.spatial_loops(where);
  if (loops.empty()) return;
  const int lanes = o.lanes > 0 ? o.lanes : detail::lanes_of(s, stage);
  const Loop last = loops.back();
  loops.pop_back();
  Loop vectors = last;
  if (lanes > 1) {
    const Split split = stage.split(last, lanes, Tail::guard, where);
    stage.vectorize(split.inner, where);
    vectors = split.outer;
  }
  Loop outer = vectors;
  if (!loops.empty()) outer = detail::fused(stage, loops, where);
  if (o.unroll > 1) {
    const Split split = stage.split(vectors, o.unroll, Tail::guard, where);
    stage.unroll(split.inner, where);
    if (loops.empty()) outer = split.outer;
  }
  if (o.parallel) stage.parallel(outer, where);
  for (const Stage& p : o.at_row) {
    p.compute_at(outer, where);
    const int own = o.lanes > 0 ? o.lanes : detail::lanes_of(s, p);
    const std::vector<Loop> of_row = p.spatial_loops(where);
    if (!of_row.empty() && own > 1 && !detail::definition(s, p).is_reduction()) p.vectorize(of_row.back(), own, where);
  }
  if (o.stream) stage.stream_store(where);
}

}  // namespace ashlar::schedules
