// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/puts.h>

namespace ashlar::analysis {

Expr decided(Expr e, const std::vector<Expr>& conditions) {
  for (bool more = true; more && ir::is(e, ir::Op::select);) {
    more = false;
    const auto args = ir::args_of(e);
    const Expr otherwise = ir::logic_not(args[0]);
    for (const Expr& c : conditions) {
      if (ir::same(c, args[0]))
        e = args[1];
      else if (ir::same(c, otherwise))
        e = args[2];
      else
        continue;
      more = true;
      break;
    }
  }
  return e;
}

namespace {
bool cases(const Expr& at, const Expr& keep, const Facts& facts, std::vector<Expr>& conditions,
           const std::function<bool(const Expr& at, const Facts&)>& f) {
  if (!ir::is(at, ir::Op::select)) {
    Facts here = facts;
    for (const Expr& c : conditions) assume_of_data(here, c);
    if (!keep.empty()) assume_of_data(here, decided(keep, conditions));
    return f(at, here);
  }
  const auto args = ir::args_of(at);
  for (const bool first : {true, false}) {
    conditions.push_back(first ? args[0] : ir::logic_not(args[0]));
    const bool goes_on = cases(args[first ? 1 : 2], keep, facts, conditions, f);
    conditions.pop_back();
    if (!goes_on) return false;
  }
  return true;
}
}  // namespace

bool each_case(const Expr& at, const Expr& keep, const Facts& facts,
               const std::function<bool(const Expr& at, const Facts&)>& f) {
  std::vector<Expr> conditions;
  return cases(at, keep, facts, conditions, f);
}

}  // namespace ashlar::analysis
