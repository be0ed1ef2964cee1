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

// The value of an index or bool expression over assigned variables. Empty if a variable is missing, the expression reads memory
// or computes on data, or the value leaves 63 bits. The arm of a select that is not taken is not evaluated.
std::optional<std::int64_t> evaluate(const Expr&, const Assignment&);

// Draws assignments of the variables of `expressions`, and of the facts about them, that satisfy every fact: either every point
// of a small constant box, in order, or pseudo-random points (the same in every run) that favor the ends of ranges.
class Sampler {
 public:
  Sampler(std::span<const Expr> expressions, const Facts& facts);
  bool complete(std::int64_t limit) const;  // the variables span a constant box of at most `limit` points
  bool next_point();                        // the next point of that box that satisfies all facts; false after the last
  bool sample(std::uint64_t seed);          // draws an assignment; false if this one breaks a fact, or might
  const Assignment& assignment() const { return values_; }
  bool allows(const Assignment& at) const { return check(at) == Allowed::yes; }  // whether all facts hold at another point
  // Whether all facts are known to hold at the current point. Facts that depend on data are not known to hold: such a point
  // refutes nothing, but everything that is proved must hold at it.
  bool certain() const { return check(values_) == Allowed::yes; }

 private:
  enum class Allowed { yes, no, perhaps };
  Allowed check(const Assignment&) const;

  const Facts& facts_;
  Assignment values_;
  std::vector<const VarFacts*> known_;
  bool started_ = false;
};

// Draws values until a == b under all conditions and facts. True means that there is such a point; false means nothing. Values
// of variables that only one side reads are drawn separately and matched where the sides are equal. So a few hundred draws find
// what a search point by point would miss, such as equal addresses of two threads.
bool drawn_equal(const Expr& a, const Expr& b, std::span<const Expr> conditions, const Facts&);

}  // namespace ashlar::analysis
