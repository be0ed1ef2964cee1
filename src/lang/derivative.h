// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Derivatives of one value by the elements that it loads, in reverse: every operator node is met once, after all that use it.
#include <functional>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::lang {

struct Sensitivity {
  Expr load;     // an element that the value reads
  Expr adjoint;  // seed times the partial derivative of the value by it, over the variables of the value
};

// For each load of a tensor that `wanted` says, one entry a node. An arm of select that is not taken has no part in it, nor is
// anything read in it. Where a function has a corner: max and min of equals give each one half, abs 0 gives 0; floor, ceil,
// round, trunc, comparisons and conversions to integers have the derivative 0. Refused, at `where`, for operators that have no
// derivative (bit patterns of floats).
std::vector<Sensitivity> pull_back(const Expr& value, const Expr& seed, const std::function<bool(ir::Id)>& wanted,
                                   const std::string& stage, Where where);

}  // namespace ashlar::lang
