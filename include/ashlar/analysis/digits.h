// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Equal sums of digits: if two addresses use the same strides, and the rest below each stride is a digit, the addresses are
// equal exactly if all their digits are equal. Products of variables, which integer sets cannot hold, become linear equations.
//
//   i*N + j == k*N + l  with 0 <= j < N and 0 <= l < N      i == k and j == l
//
// The method: V. Maslov, "Delinearization: an efficient way to break multiloop dependence equations", PLDI 1992.
#include <span>
#include <utility>
#include <vector>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// Equations that together are equivalent to a == b, under the facts. If no stride can be proved to separate the digits: the
// pair itself.
std::vector<std::pair<Expr, Expr>> digits_of_equal(const Expr& a, const Expr& b, const Facts&);

// The same if some variables are known to be strides of an argument whose elements do not overlap. The equations compare the
// coefficients of each stride, and the rest. If a stride is used in another way: the pair itself.
std::vector<std::pair<Expr, Expr>> digits_of_equal(const Expr& a, const Expr& b, std::span<const ir::Id> strides);

}  // namespace ashlar::analysis
