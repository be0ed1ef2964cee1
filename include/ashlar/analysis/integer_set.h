// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Integer sets: decides whether there is an integer point at which all given conditions hold. This is the only use of isl:
// emptiness of one small set at a time, with a budget of operations. Every answer is cached.
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
  std::string why;   // unknown: the term that integer sets cannot express, or that the budget was exceeded
};

inline constexpr unsigned long integer_set_budget = 30'000;  // isl operations for one query: about 20 ms

// `facts` only bounds replaced terms; conditions on the variables must be among `conditions` (conditions_of_facts).
PointSearch find_point(std::span<const Expr> conditions, const Facts& facts, unsigned long budget = integer_set_budget);

// An easier form of the same query: whether there are no points even without the conditions that read memory, and with
// quotients replaced where ranges decide them, such as (32 * warp + lane) / 32 by warp. Both would exceed the budget of integer
// sets. `stated` are conditions from the facts, `asked` the others. Returns false if nothing became easier.
bool none_without_data(std::span<const Expr> asked, std::span<const Expr> stated, const Facts& facts);

// The facts about these variables, and about those that their ranges mention, as conditions.
std::vector<Expr> conditions_of_facts(std::span<const Expr> expressions, const Facts&);

struct IntegerSetCounters {
  std::size_t asked = 0, remembered = 0;
};
IntegerSetCounters integer_set_counters();  // of this thread

}  // namespace ashlar::analysis
