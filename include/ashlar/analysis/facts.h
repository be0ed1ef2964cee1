// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Facts about the variables of an expression, for simplification and proofs.
//
// Invariant: facts only narrow the values. A second fact about a variable keeps the first; a variable without facts may be any
// integer. Symbolic ends may use symbols and variables that were bound earlier, but not later ones.
//
//   Facts f;  f.bound(i, 0, 63);  f.range(j, index(0), sub(N, index(1)));  f.multiple(N, 16);  f.assume(lt(i, j));
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct VarFacts {
  ir::Id id = 0;
  std::optional<std::int64_t> min, max;  // inclusive constants
  Expr lo, hi;                           // inclusive, symbolic, over variables bound before this one; may be empty
  std::int64_t multiple_of = 1;
};

class Facts {
 public:
  void bound(ir::Id var, std::optional<std::int64_t> min, std::optional<std::int64_t> max);
  void range(ir::Id var, const Expr& lo, const Expr& hi);  // lo <= var <= hi; constants in them also become min/max
  void multiple(ir::Id var, std::int64_t of);
  void assume(const Expr& condition);  // a conjunction is taken apart; v < 8 and v % 16 == 0 also become facts of v alone
  const VarFacts* of(ir::Id var) const;
  const std::vector<Expr>& conditions() const { return conditions_; }
  const std::vector<VarFacts>& vars() const { return vars_; }  // in the order they were bound
  // The facts that can matter for an expression over some variables: facts of these and of all variables that their ranges and
  // conditions lead to. They keep their order and point into this object.
  struct Part {
    std::vector<const VarFacts*> vars;
    std::vector<const Expr*> conditions;
  };
  Part about(std::vector<ir::Id> vars) const;
  Facts() = default;
  explicit Facts(const Part&);

 private:
  VarFacts& entry(ir::Id var);

  std::vector<VarFacts> vars_;
  std::vector<Expr> conditions_;
};

// Values of variables, which make up a witness.
struct Binding {
  ir::Id id = 0;
  const char* name = nullptr;
  std::int64_t value = 0;
};
using Assignment = std::vector<Binding>;
std::string text(const Assignment&);  // "i = 3, N = 5"

// Assumes a condition on data, and also on the indices that the data become: from x >= 0 for an i32 x, index(x) >= 0.
void assume_of_data(Facts&, const Expr& condition);

Facts facts_of_arguments(const ir::Program&);  // symbols with their facts (extents are at least 0), and the assumptions

}  // namespace ashlar::analysis
