// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Skewed axes: wavefronts.
//
// skew(t, i, f) puts an axis s in the place of i, which begins f iterations later with each step of t:
//
//   i = s - f t             f > 0         for t in 3             for t in 3
//   i = s - |f| (E_t-1-t)   f < 0           for i in 4    ->       for s in 4 + 2 f
//                                             block                  block          where 0 <= s - f t < 4
//
// (t, i) -> (t, s) is one to one; s reaches points outside of i's extent, and blocks skip those. What t and i become later, by
// splits, their values follow. A tight loop over t, over s, or over a part that a split made of one of them, has only the
// iterations from which the loops inside may reach a point, as far as the loops around it fix the other axis.
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::ir {

// The value of a skewed axis at which what was skewed is at 0, over the loops of the axis along which.
Expr skew_offset(const Program&, const Axis& skewed);
// How many values it has: E_i + |f| (E_t - 1).
Expr skewed_extent(const Program&, const Axis& skewed);
// Of an axis that was skewed: that it is at least 0, and below its extent. Nothing of another one.
std::vector<Expr> skew_conditions(const Program&, Id axis);
// Was there a skew below the axis, on its way to the loops?
bool skewed_below(const Program&, Id axis);

// The pairs that a leaf axis belongs to, alone or as a part that splits made: the skewed axis of each.
std::vector<Id> skews_of(const Program&, Id axis);
// The iterations of a loop over such an axis from which a point of every pair may be reached: where it stands inside the loop
// over the other axis, or a part of that, exactly these.
LoopRange skewed_range(const Program&, const Stmt& loop);

}  // namespace ashlar::ir
