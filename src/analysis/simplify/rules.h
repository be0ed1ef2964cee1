// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The table of rewrite rules of the simplifier. A rule is data: over pattern variables, whenever `condition` holds, `pattern`
// and `replacement` have the same value. Rules of one operator are tried in the order of the table; the first that matches and
// whose condition is proved applies.
//
//   {"div.split", "(xy + z)/y = x + z/y, for floor moves whole steps through", (x * y + z) / y, x + z / y, y != 0}
//
// Pattern variables: x, y, z match any index expression; c, d, e, g, k only constants; p, q any condition. Matching an
// addition works on the canonical sum: `x * y + z` takes as x the quotient of what is a multiple of y, as z the rest.
#include <span>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::analysis {

// Some constants in a rule are found by looking at the operand before matching: it only suggests, the condition decides.
enum class Suggest {
  none,
  quotient,   // k: floor(smallest value of the first operand / c)
  remainder,  // k: the value known of the dividend modulo the divisor
  content,    // g: gcd of the divisor and the coefficients of the first operand
  carry,      // g: the largest divisor of the divisor below which the terms of the first operand that it does not divide stay
  congruent,  // g: the largest divisor of the divisor that is known to divide the first operand without its constant
  above,      // g: the smallest power of two above all values of the second operand, where the first has bits from there on
  below,      // g: the largest power of two that is known to divide the second operand
};

struct Rule {
  const char* name;
  const char* algebra;  // why it holds
  Expr pattern, replacement;
  Expr condition;  // empty: always
  Suggest suggest = Suggest::none;
  // Documentation, never matched: what the linear form carries out (linear.cpp, simplify.cpp: sums, comparisons, minima and
  // maxima), or the builders of ir fold. It stands here so that its algebra is tested like the others'. Its case
  // (tests/analysis/rule_cases_test.cpp) comes to the result without any row.
  bool carried_out_by_form = false;
};

std::span<const Rule> all_rules();
std::span<const Rule* const> rules_of(ir::Op root);  // those that are matched, in the order of the table

// While one lives, the rules that apply in this thread, in their order: for tests. A rule that is withheld never applies.
class AppliedRules {
 public:
  explicit AppliedRules(const Rule* withheld = nullptr) : withheld_(withheld), outer_(innermost) { innermost = this; }
  ~AppliedRules() { innermost = outer_; }
  AppliedRules(const AppliedRules&) = delete;
  AppliedRules& operator=(const AppliedRules&) = delete;
  static bool take(const Rule& rule) {  // asked of a rule that matches and whose condition is proved; false: it is withheld
    if (!innermost) return true;
    if (innermost->withheld_ == &rule) return false;
    innermost->rules.push_back(&rule);
    return true;
  }
  std::vector<const Rule*> rules;

 private:
  const Rule* withheld_;
  static thread_local constinit AppliedRules* innermost;
  AppliedRules* outer_;
};

// Pattern variables by position.
inline constexpr ir::Id first_pattern_id = 0xffff'ffff'ffff'ff00ull;
enum PatternVar { px, py, pz, pc, pd, pe, pg, pk, pp, pq, pattern_var_count };
inline int pattern_var(const Expr& e) {
  return ir::is(e, ir::Op::var) && e.node()->id >= first_pattern_id ? static_cast<int>(e.node()->id - first_pattern_id) : -1;
}
inline bool is_constant_var(int v) { return v >= pc && v <= pk; }

}  // namespace ashlar::analysis
