// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Bit-linear algebra: index expressions whose bits are sums modulo 2 of bits of their variables. Such are shifts (times,
// divided by, modulo powers of two), xor, and additions that never carry. A system of equations between them is solved by
// elimination over GF(2).
//
//   r ^ (c%4*8) == s ^ (d%4*8), c == d    implies    r == s
#include <bitset>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

class BitSystem {
 public:
  static constexpr std::size_t most_inputs = 512;
  using Row = std::bitset<most_inputs + 1>;  // the last bit is the constant
  using Word = std::vector<Row>;             // bit 0 first; bits beyond the end are 0

  // Variables that may be negative, or that the facts do not bound below, have no word. One without an upper bound has 62 bits.
  explicit BitSystem(const Facts& facts) : facts_(facts) {}

  std::optional<Word> word(const Expr&);
  bool equate(const Expr& a, const Expr& b);  // false: one of them is not bit-linear
  bool consistent() const { return consistent_; }
  bool implies_equal(const Expr& a, const Expr& b);  // of every solution
  // The bits of a row that belong to a variable that has occurred: from `first` on, `width` of them; none if it has not.
  std::pair<std::size_t, std::size_t> bits_of(ir::Id var) const;
  // A solution in which the two differ; values of all variables that have occurred. Not held against the facts.
  std::optional<Assignment> solution_with_difference(const Expr& a, const Expr& b);

 private:
  bool add(Row row);
  std::optional<std::vector<Row>> differences(const Expr& a, const Expr& b);  // bit by bit, a ^ b
  Row reduce(Row row) const;
  struct Input {
    Expr var;
    std::size_t first, width;
  };

  const Facts& facts_;
  std::vector<Input> inputs_;
  std::size_t used_ = 0;
  std::vector<Row> rows_;  // reduced; each with its leading input
  std::vector<std::size_t> leads_;
  bool consistent_ = true;
};

}  // namespace ashlar::analysis
