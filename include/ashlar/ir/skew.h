// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Skewed axes: wavefronts.
//
// skew(t, i, f) replaces i by an axis s that begins f iterations later with each step of t:
//
//   i = s - f t             f > 0         for t in 3             for t in 3
//   i = s - |f| (E_t-1-t)   f < 0           for i in 4    ->       for s in 4 + 2 f
//                                             block                  block          where 0 <= s - f t < 4
//
// (t, i) -> (t, s) is one to one; s reaches points outside i's extent, and blocks skip those. If t and i are split later, the
// values follow. A tight loop over t, over s, or over a part of one of them that a split made, has only iterations from which
// the inner loops can reach a point; this is exact if outer loops fix the other axis.
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::ir {

// The value of a skewed axis at which the original axis is 0, over the loops of the axis `along`.
Expr skew_offset(const Program&, const Axis& skewed);
// How many values it has: E_i + |f| (E_t - 1).
Expr skewed_extent(const Program&, const Axis& skewed);
// For an axis that was skewed: the conditions that it is at least 0 and below its extent. Empty for other axes.
std::vector<Expr> skew_conditions(const Program&, Id axis);
// Whether there is a skew between the axis and its loops.
bool skewed_below(const Program&, Id axis);

// The pairs that a leaf axis belongs to, itself or as a part made by splits: the skewed axis of each pair.
std::vector<Id> skews_of(const Program&, Id axis);
// The iterations of a loop over such an axis from which a point of every pair may be reached. They are exact if the loop is
// inside that over the other axis or a part of it.
LoopRange skewed_range(const Program&, const Stmt& loop);

}  // namespace ashlar::ir
