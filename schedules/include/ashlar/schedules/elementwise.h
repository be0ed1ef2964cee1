// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages without a reduction: each element from elements at its own place. For a stage y of dimensions a, b, c:
//
//   for ab in A * B                        parallel
//     for co in (C + n - 1) / n            n lanes of the widest type that it computes with
//       for ci in n                        vectorized, masked at the end of the row
//
//   schedules::elementwise(s, s[y]);
//   schedules::elementwise(s, s[y], {.inlined = {s[scaled]}, .stream = true});
//
// One dimension alone is split, and its vectors are parallel. Right for every extent. Refused: a reduction (rows, reduction), a
// scatter or recurrence, a GPU.
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

struct ElementwiseOptions {
  std::vector<Stage> inlined = {};  // computed again at each of their readers
  std::vector<Stage> at_row = {};   // producers computed for a row before it, in vectors; readers before what they read
  int lanes = 0;                    // 0: what a register holds
  int unroll = 1;                   // vectors of one iteration
  bool parallel = true;
  bool stream = false;  // past the caches: results larger than they are, that nobody reads soon
};

inline void elementwise(Schedule& s, const Stage& stage, const ElementwiseOptions& o = {}, Where where = Where::current()) {
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
  std::vector<Loop> loops = detail::loops_over(s, stage, false, where);
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
    const std::vector<Loop> of_row = detail::loops_over(s, p, false, where);
    if (!of_row.empty() && own > 1 && !detail::definition(s, p).is_reduction()) p.vectorize(of_row.back(), own, where);
  }
  if (o.stream) stage.stream_store(where);
}

}  // namespace ashlar::schedules
