// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that reduce over all earlier steps, where no dimension is independent of the order: a factorization by rows, a table of
// intervals.
//
//   for i, jo                                      blocks of 16 columns
//     sum_cut: for k before the block; lanes of j  of all columns of the block at once
//     for ji
//       sum: for k from the block's first to j     the few that are left
//       x[i, j]
#include <algorithm>

#include "schedules/src/costs.h"
#include "schedules/src/inside_steps.h"

namespace ashlar::schedules {
namespace {

using namespace costs::steps;

// More vectors hide more latency, but leave more terms to single steps. Of 1, 2 and 4, two were fastest on a Zen 4.

// The dimension of the reduction whose points are steps of the recurrence along its last variable, if that bounds the terms.
std::optional<std::size_t> steps_of(const Draft& d, const ir::Stage& s, const ir::Stage& r) {
  const ir::IterVar last = spatial_of(s).back();
  const auto terms = reduce_of(r);
  if (last.descending || terms.empty() || r.scatters() || r.along.size() || readers_of(d.program(), r).size() != 1) return {};
  for (std::size_t k = 0; k < spatial_of(r).size(); ++k) {
    const Id variable = r.iters[k].id;
    if (!one_point(d, r, variable)) return {};
    if (follows(s, last.id, r, k) && ir::uses_var(terms.front().end, variable) && only_along(d.program(), r, variable))
      return k;
  }
  return {};
}

// Sums the terms before an iteration of a loop of the recurrence, for all of its points, in vectors of `lanes`.
void before_block(Draft& d, Id id, std::size_t dim, Loop block, std::int64_t size, std::int64_t lanes) {
  const Stage sums = d.handle(id);
  const Stage before = sums.cut(loop_over(d, sums, reduce_of(d.stage(id)).front().id), block, d.where);
  before.compute_at(block, d.where);
  before.store_in(Scope::stack, d.where);
  d.made(before.id(), id);
  Tile tile;
  tile.columns = static_cast<int>(dim), tile.lanes = lanes, tile.columns_by = size;
  accumulate(d, before.id(), tile);
}

}  // namespace

bool sums_ahead(Draft& d, Id recurrence, Id id) {
  const ir::Stage s = d.stage(recurrence), r = d.stage(id);
  const std::int64_t lanes = lanes_of(d, r), block = vectors_of_block * lanes, few = std::max<std::int64_t>(4, lanes / 2);
  const auto dim = steps_of(d, s, r);
  if (!dim || lanes < 2 || d.sizes().extent(s, spatial_of(s).back().id) < 2 * static_cast<double>(block)) return false;
  const Stage steps = d.handle(recurrence);
  std::optional<Split> split;
  if (!d.attempt(id, "the terms before a block of " + count(static_cast<double>(block)) + " steps apart", [&] {
        split = steps.split(loop_over(d, steps, spatial_of(s).back().id), block, Tail::guard, d.where);
        before_block(d, id, *dim, split->outer, block, lanes);
      }))
    return false;
  if (block % few == 0 && block >= 2 * few)
    d.attempt(id, "in it those before " + count(static_cast<double>(few)),
              [&] { before_block(d, id, *dim, steps.split(split->inner, few, Tail::exact, d.where).outer, few, few); });
  on_stack(d, id);
  return true;
}

}  // namespace ashlar::schedules
