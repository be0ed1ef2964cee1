// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How far one index lies behind another at least, from the bounds of the variables and from conditions.
//
//   k in [0, t)                   t - k is at least 1
//   k in [0, min(i, j))           i - k and j - k are
//   k in [0, d)                   d - (d - 1 - k) is
//   j < i                         i - j is
//   k in [0, j / 8 * 8)           j - k is
//
// Invariant: a bound that is given holds. It is found where the difference is a sum of facts times numbers and of a constant;
// each variable of it is taken away by one fact that has it, so products of variables and the like find none.
#include <optional>
#include <utility>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::ir {

class Apart {
 public:
  explicit Apart(const std::vector<Expr>& known);  // conditions that hold; only those on indices are used
  // A lower bound of a - b that is a constant, above 0 if such a bound is found. Empty: none was found.
  std::optional<std::int64_t> least(const Expr& a, const Expr& b) const;

 private:
  struct Sum {  // constant + coefficients times atoms: variables, and all expressions but sums
    std::vector<std::pair<Expr, std::int64_t>> terms;
    std::int64_t constant = 0;
    bool fits = true;  // in 64 bits
    void add(const Expr&, std::int64_t factor);
    void add_atom(const Expr&, std::int64_t factor);
    void add_scaled(const Sum&, std::int64_t factor);
    Sum with(std::size_t term, const Expr& instead) const;
  };
  static Sum difference(const Expr& a, const Expr& b, std::int64_t less);
  void assume(const Expr& condition, bool holds);
  void learn(const Sum& not_negative);
  void know_multiple(const Expr& quotient, std::int64_t factor);
  void settle();
  std::optional<std::int64_t> least(const Sum&, int depth, int& steps) const;

  std::vector<Sum> facts_;       // each is at least 0
  std::vector<Expr> quotients_;  // whose facts are among facts_
};

}  // namespace ashlar::ir
