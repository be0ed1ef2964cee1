// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Symbolic intervals: the hull of the values of an index expression while some of its variables run over their ranges.
//
//   bounds_over(io*64 + ii, {ii: [0, 63]})            is [io*64, io*64 + 63]
//   bounds_over(min(y + t, H - 1), {t: [-2, 2]})      is [min(y - 2, H - 1), min(y + 2, H - 1)]
//
// Invariant: for every assignment that the facts allow, lo <= e <= hi. An end that cannot be bounded is an empty Expr.
// The ends are simplified; where the same variable occurs several times the expression is first brought to canonical form,
// so i - i costs nothing, but in general the hull may be wider than the true range, never narrower.
#include <span>

#include <ashlar/analysis/simplify.h>

namespace ashlar::analysis {

struct Interval {
  Expr lo, hi;  // inclusive
  bool bounded() const { return !lo.empty() && !hi.empty(); }
};
struct VarRange {
  ir::Id id = 0;
  Interval range;
};  // the range may use variables eliminated later (further down the list)

// Eliminates the listed variables from first to last: list inner loops first.
Interval bounds_over(const Expr&, std::span<const VarRange> eliminate, const Facts&);
Interval hull(const Interval&, const Interval&, const Facts&);       // min of los, max of his; decided where provable
Interval intersect(const Interval&, const Interval&, const Facts&);  // max of los, min of his
// The smallest constant or symbolic (over `keep`-free variables only) upper bound of e while *all* variables with a range
// in `eliminate` run: used for storage sizes. Tries each arm of a min separately; a constant is preferred (strides stay
// constant), unless it is beyond the size of any tile and a symbolic bound may be smaller. Empty if there is none.
Expr upper_bound(const Expr&, std::span<const VarRange> eliminate, const Facts&);

}  // namespace ashlar::analysis
