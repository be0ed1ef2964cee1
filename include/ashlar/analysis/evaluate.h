// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Values of expressions under an assignment, and the search for an assignment that refutes a claim.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// Of an index or bool expression over assigned variables; empty if a variable is missing, the expression reads memory or
// computes on data, or the value leaves 63 bits. The arm of a select that is not taken is not evaluated.
std::optional<std::int64_t> evaluate(const Expr&, const Assignment&);

// Draws assignments of the variables of `expressions`, and of the facts about them, that satisfy every fact: either every point
// of a small constant box, in order, or pseudo-random points (the same in every run) that favor the ends of ranges.
class Sampler {
 public:
  Sampler(std::span<const Expr> expressions, const Facts& facts);
  bool complete(std::int64_t limit) const;  // the variables span a constant box of at most `limit` points
  bool next_point();                        // of that box, in order, those that break a fact left out; false after the last
  bool sample(std::uint64_t seed);          // draws an assignment; false if this one breaks a fact, or might
  const Assignment& assignment() const { return values_; }
  bool allows(const Assignment& at) const { return check(at) == Allowed::yes; }  // of the same variables: do all facts hold?
  // Are they known to hold for the point at hand? A fact that depends on data is not: such a point shows nothing, but what is
  // proved must hold at it.
  bool certain() const { return check(values_) == Allowed::yes; }

 private:
  enum class Allowed { yes, no, perhaps };
  Allowed check(const Assignment&) const;

  const Facts& facts_;
  Assignment values_;
  std::vector<const VarFacts*> known_;
  bool started_ = false;
};

// Draws values until a == b under all conditions and facts. True: there is such a point; false says nothing. Values of
// variables that only one side reads are drawn apart and joined where the sides are equal, so that some hundred draws find what
// a search point by point would not: addresses of two threads into one buffer.
bool drawn_equal(const Expr& a, const Expr& b, std::span<const Expr> conditions, const Facts&);

}  // namespace ashlar::analysis
