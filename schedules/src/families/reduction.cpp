// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/reduction.h>

#include <algorithm>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/reduction.h"

namespace ashlar::schedules {

namespace detail {

bool reduces_columns(const Schedule& s, const Stage& stage) {
  const ir::Stage& d = definition(s, stage);
  bool columns = false, rows = false;
  for (const Expr& value : d.values)
    ir::walk(value, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load) || ir::args_of(e).empty()) return true;
      const Expr last = ir::args_of(e).back();
      for (const ir::IterVar& v : d.iters)
        if (ir::uses_var(last, v.id)) (v.kind == ir::IterKind::reduce ? rows : columns) = true;
      return true;
    });
  return columns && !rows;
}

void reduce_columns(Schedule& s, const Stage& stage, const ReductionOptions& o, Where where) {
  const int lanes = o.lanes > 0 ? o.lanes : lanes_of(s, stage), registers = std::min(4, o.accumulators);
  const Stage sums = s.cache_write(stage, Scope::registers, where);
  std::vector<Loop> outer = stage.spatial_loops(where);
  const Split blocks = stage.split(outer.back(), lanes * registers, Tail::guard, where);
  outer.back() = blocks.outer;
  const Loop block = fused(stage, outer, where);
  const Split copied = stage.split(blocks.inner, lanes, Tail::guard, where);
  stage.vectorize(copied.inner, where).unroll(copied.outer, where);
  if (o.parallel) stage.parallel(block, where);
  sums.compute_at(block, where);
  // A block has at most so many columns: as a split of one iteration its registers are a constant number.
  const Split whole = sums.split(sums.spatial_loops(where).back(), lanes * registers, Tail::guard, where);
  const Split vectors = sums.split(whole.inner, lanes, Tail::guard, where);
  for (const Loop& k : sums.reduction_loops(where)) sums.reorder({k, where}, vectors.outer, vectors.inner);
  sums.vectorize(vectors.inner, where).unroll(vectors.outer, where);
}

}  // namespace detail

void reduction(Schedule& s, const Stage& stage, const ReductionOptions& o, Where where) {
  detail::expect_processor("reduction", s, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.is_reduction() || d.scatters())
    refuse("reduction", "a stage that reduces",
           d.name + (d.scatters() ? ", a scatter (schedules::scatter_add)" : ", which does not"), where);
  detail::expect_option("reduction", "part", o.part, 1, where);
  detail::expect_power_of_two("reduction", "accumulators", o.accumulators, where);
  if (o.lanes != 0) detail::expect_power_of_two("reduction", "lanes", o.lanes, where);
  if (detail::reduces_columns(s, stage)) return detail::reduce_columns(s, stage, o, where);
  const int lanes = o.lanes > 0 ? o.lanes : detail::lanes_of(s, stage);
  const std::vector<Loop> spatial = stage.spatial_loops(where), terms = stage.reduction_loops(where);
  if (!spatial.empty()) {  // a result for each row
    const Loop row = detail::fused(stage, spatial, where);
    if (o.parallel) stage.parallel(row, where);
    detail::reduce_in_lanes(s, stage, row, terms.back(), lanes, o.accumulators, where);
    return;
  }
  // Parts of the outermost dimension, of about as many terms each.
  std::int64_t inner = 1;
  for (std::size_t k = 1; k < terms.size(); ++k)
    inner *= std::max<std::int64_t>(1, detail::number_or(terms[k].extent(where), 256));
  const std::int64_t each = std::max<std::int64_t>(1, o.part / inner);
  const std::int64_t extent = detail::number_or(terms.front().extent(where), -1);
  if (extent >= 0 && extent <= each) {
    detail::reduce_in_lanes(s, stage, Loop(), terms.back(), lanes, o.accumulators, where);
    return;
  }
  std::vector<Stage> parts;
  const auto refused = s.attempt(
      [&] { parts.push_back(stage.rfactor(stage.split(terms.front(), each, Tail::guard, where).outer, Place::first, where)); });
  if (refused) {
    detail::reduce_in_lanes(s, stage, Loop(), terms.back(), lanes, o.accumulators, where);
    return;
  }
  const Stage part = parts.front();
  const Loop each_part = part.spatial<1>(where)[0];
  if (o.parallel) part.parallel(each_part, where);
  detail::reduce_in_lanes(s, part, each_part, part.reduction_loops(where).back(), lanes, o.accumulators, where);
}

}  // namespace ashlar::schedules
