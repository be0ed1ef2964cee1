// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The proof cascade: it answers the obligations of a schedule step (proved, refuted, unknown) with the first method that can.
//
//   1. structure              done by the caller, which knows where loops came from and asks here only if that does not decide
//   2. intervals, congruences a dimension at a time
//   3. integer sets           emptiness for one pair of accesses, with a budget; answers are cached
//   4. bit-linear algebra     xor and powers of two, over GF(2)
//   5. enumeration            if the domain is constant and small
//   6. unknown                with the term that no method could handle
//
// Every refutation comes with a witness: two concrete iterations, as values and as text.
//
//   for v in 0..N: for t in 0..64: C[v*64 + t] = ...        disjoint(C[v*64 + t], itself, v)   proved, step 2
//   for v in 0..N: for t in 0..65: C[v*64 + t] = ...        refuted: v = 0, t = 64 and v = 1, t = 0 both write C[64]
#include <span>
#include <string>
#include <vector>

#include <ashlar/analysis/interval.h>

namespace ashlar::analysis {

enum class Step { structure, intervals, integer_sets, bits, enumeration, none };
const char* step_name(Step);

struct Verdict {
  Answer answer = Answer::unknown;
  Step step = Step::none;    // which step of the cascade answered
  std::string why;           // refuted: "iterations v = 0 and v = 1 both write C[64] (t = 64, t = 0)"; unknown: the term
  Assignment first, second;  // refuted: the two iterations (no_solution: the solution in `first`)
  std::vector<std::int64_t> element;  // refuted: the indices both touch, where they can be computed
  explicit operator bool() const { return answer == Answer::proved; }
};

// One access to a buffer: `at` are its indices, over loop variables and symbols; `when` further conditions under which it
// happens.
struct Access {
  std::string buffer;
  bool write = false;
  std::vector<Expr> at;
  std::vector<Expr> when;
};

// DISJOINT: can two different iterations of `loop` access the same element, one through `a` and the other through `b`, in
// either order? `loop` is its variable. Variables in `inner` (loops inside `loop`, reductions) are independent in the two
// iterations; all others (outer loops and symbols) are equal. `facts` has the ranges of all of them. Two reads are disjoint by
// definition.
Verdict disjoint(const Access& a, const Access& b, const Expr& loop, std::span<const ir::Id> inner, const Facts& facts);

// BIJECT: does a map send different points of its domain to different images? `vars` run over the ranges that `facts` gives
// them; other variables are symbols. The image may have gaps (padding); that it lies inside a box is a question of bounds_over.
//
//   injective({n, k}, {n/16, k, n%16})                  proved
//   injective({r, c}, {r, c ^ (r%4*8)})                 proved, by bits
//   injective({y, x}, {y%8, x}) for y in [t, t + 7]     proved
Verdict injective(std::span<const ir::Id> vars, std::span<const Expr> map, const Facts& facts);

// Is there no assignment that satisfies all conditions and all facts?
Verdict no_solution(std::span<const Expr> conditions, const Facts& facts);

}  // namespace ashlar::analysis
