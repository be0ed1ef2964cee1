// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Integer sets: is there an integer point at which all of these conditions hold? This is the only use of isl: emptiness of one
// small set at a time, with a budget of operations. Every answer is cached.
//
//   find_point({0 <= v, v < w, v*64 + t == w*64 + u, 0 <= t, t < 64, 0 <= u, u < 64})   is   none
//
// Conditions are conjunctions, disjunctions and negations of comparisons of index expressions. Floor division and modulo by
// positive constants, min, max and select are understood; any other term (a product of variables, a load, an xor) is replaced
// by a fresh variable within its constant bounds. So `none` is always a proof; a point is only given when nothing was replaced.
#include <cstddef>
#include <span>
#include <string>

#include <ashlar/analysis/simplify.h>

namespace ashlar::analysis {

struct PointSearch {
  enum class Found { none, point, unknown } found = Found::unknown;
  Assignment point;  // a value for every variable of the conditions
  std::string why;   // unknown: the term that integer sets do not hold, or that the budget was spent
};

inline constexpr unsigned long integer_set_budget = 30'000;  // isl operations of one question: about 20 ms

// `facts` gives bounds of replaced terms only; what should hold of the variables is among the conditions (conditions_of_facts).
PointSearch find_point(std::span<const Expr> conditions, const Facts& facts, unsigned long budget = integer_set_budget);

// The same question again, easier: are there no points even where conditions that read memory are left out and quotients that
// ranges decide are replaced, as (32 * warp + lane) / 32 by warp? Both take integer sets beyond their budget. `stated` is what
// the facts say, `asked` the rest. False where nothing became easier.
bool none_without_data(std::span<const Expr> asked, std::span<const Expr> stated, const Facts& facts);

// What the facts say of these variables and of those that their ranges mention, as conditions.
std::vector<Expr> conditions_of_facts(std::span<const Expr> expressions, const Facts&);

struct IntegerSetCounters {
  std::size_t asked = 0, remembered = 0;
};
IntegerSetCounters integer_set_counters();  // of this thread

}  // namespace ashlar::analysis
