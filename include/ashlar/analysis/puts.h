// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The element that a step of a scatter chooses, split into cases by `select`: each of several puts in a step is a separate
// case, with the condition under which it is kept.
//
//   at = select(put == 0, a, b), keep = select(put == 0, a < N, true)
//     case a: where put == 0 and a < N          case b: where put != 0
#include <functional>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// Replaces each `select` that one of the conditions decides by the arm that is taken.
Expr decided(Expr e, const std::vector<Expr>& conditions);

// Calls f with each case of the index `at` and the facts that hold there, until f returns false. `keep` may be empty.
bool each_case(const Expr& at, const Expr& keep, const Facts&, const std::function<bool(const Expr& at, const Facts&)>& f);

}  // namespace ashlar::analysis
