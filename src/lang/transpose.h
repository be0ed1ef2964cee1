// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The transposition of a read: a stage that adds `value` at `index` of a tensor for every point of its variables, written the
// other way round, as what one element of the tensor receives.
//
//   for i, r: d_x[i + r] += g(i, r)      ->      d_x[t] = sum over r of select(0 <= t - r && t - r < N, g(t - r, r), 0)
//
// One variable of each index is solved for; the others are summed over. That needs indices that are sums of variables times
// numbers: where a coefficient is not 1 the quotient must be exact, and an index without a variable left must be the element.
#include <optional>

#include <ashlar/lang/definition.h>

namespace ashlar::lang {

struct Addition {
  const StageDef* stage = nullptr;  // whose variables
  bool reduces = false;             // its axes and conditions among them; of a scatter, nothing but what it runs over
  Expr load;                        // the read: its indices say where
  Expr value;
};

struct Received {
  std::vector<Axis> axes;  // to sum over; empty: the value is all that is received
  Expr value;              // over the axes and the indices of the element
};

// The conditions under which a point of the stage adds anything; empty: it always does.
Expr condition_of(const Addition&);

struct Free {  // a variable of the stage, and its range
  Id id = 0;
  std::string name;
  Expr begin, end;
};
std::vector<Free> variables_of(const Addition&, Where);

// What the element `at` of the tensor receives; nothing where an index is of another kind, or bounds go round in a circle.
std::optional<Received> received(const Addition&, const TensorDef& of, const std::vector<Expr>& at, Where);

}  // namespace ashlar::lang
