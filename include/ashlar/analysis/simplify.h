// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Simplification and proof of index and bool expressions.
//
// simplify brings index arithmetic to a canonical form: a sum of constant multiples of atoms plus a constant, in an order that
// depends on names and structure only; floor division and modulo of such sums are taken apart where the facts allow ((i*64 + j)
// / 64 -> i when 0 <= j < 64); min, max, select and comparisons are decided where the facts decide them. The rules are a table
// (src/analysis/simplify/rules.cpp) with the algebra in comments; each row is tested exhaustively. Data expressions (floats,
// wrapping integers) are left alone but for constants, casts of constants and decided selects: IEEE arithmetic is never
// reassociated here.
//
//   simplify((io*64 + ii) / 64, {0 <= ii < 64})   is   io
#include <cstdint>
#include <optional>
#include <string>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

Expr simplify(const Expr&, const Facts& = {});

enum class Answer { proved, refuted, unknown };
struct Proof {
  Answer answer = Answer::unknown;
  std::string why;     // refuted: a witness ("i = 3, N = 5"); unknown: the term that could not be bounded
  Assignment witness;  // refuted: the same as values
  explicit operator bool() const { return answer == Answer::proved; }
};
// proved: true for every value that the facts allow. refuted: false for some such value, given in `why`. Uses methods 2
// (intervals, congruences) and 5 (enumeration of small constant boxes) of the proof cascade; cascade.h adds the integer sets.
Proof prove(const Expr& condition, const Facts&);
bool can_prove(const Expr& condition, const Facts&);

// Constant bounds, inclusive; empty when the facts give none.
std::optional<std::int64_t> constant_min(const Expr&, const Facts&);
std::optional<std::int64_t> constant_max(const Expr&, const Facts&);
// The largest modulus m that was found, and the remainder r, so that always e = r (mod m) and 0 <= r < m. A constant has m = 0
// and r its value, so "e is a multiple of 16" is `m % 16 == 0 && r % 16 == 0` in every case.
struct Congruence {
  std::int64_t modulus = 1, remainder = 0;
};
Congruence congruence(const Expr&, const Facts&);

}  // namespace ashlar::analysis
