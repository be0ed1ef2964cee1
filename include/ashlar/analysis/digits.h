// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Equal sums of digits: where two addresses are written in the same strides, and what is below a stride is a digit of it, they
// are equal exactly if all digits are. What is a product of variables to an integer set becomes linear equations.
//
//   i*N + j == k*N + l  with 0 <= j < N and 0 <= l < N      i == k and j == l
//
// The method: V. Maslov, "Delinearization: an efficient way to break multiloop dependence equations", PLDI 1992.
#include <span>
#include <utility>
#include <vector>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// Equations that together hold exactly where a == b does, under the facts; the pair itself where no stride of it could be
// proved to separate.
std::vector<std::pair<Expr, Expr>> digits_of_equal(const Expr& a, const Expr& b, const Facts&);

// The same where it is known of some variables that they are strides: of an argument whose elements do not overlap. The
// coefficients of each are equal, and what is left; the pair itself where a stride is used otherwise.
std::vector<std::pair<Expr, Expr>> digits_of_equal(const Expr& a, const Expr& b, std::span<const ir::Id> strides);

}  // namespace ashlar::analysis
