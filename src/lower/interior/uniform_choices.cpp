// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/interior/uniform_choices.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>

#include "lower/interior/interior.h"
#include "lower/passes.h"

namespace ashlar::lowering {

namespace {

constexpr std::size_t most_nodes = 2000;  // of a tile that is there twice
constexpr std::size_t most_conditions = 8;

class Conditions {
 public:
  Conditions(const KStmt& tile, const Facts& facts) : facts_(facts) {
    variables(tile);
    statement(tile);
  }

  struct Asked {
    Expr condition;                            // simplified
    std::vector<std::pair<Expr, bool>> forms;  // as it stands in the tile, or (false) its negation
    bool holds = false, fails = false;         // there is a load that happens only if it holds, or fails
    bool vanishes() const { return holds != fails; }
    Expr wanted() const { return holds ? condition : ir::logic_not(condition); }
  };
  std::vector<Asked> asked;
  std::size_t nodes = 0;
  bool vectors = false;

 private:
  void variables(const KStmt& s) {
    if (const auto* loop = s.as<ir::KFor>()) inner_.push_back(loop->var);
    if (const auto* let = s.as<ir::KLet>()) inner_.push_back(let->var);
    vectors = vectors || ir::as_loop(s, ir::LoopKind::vectorized);
    for (const auto* inside : s.bodies())
      for (const KStmt& k : *inside) variables(k);
  }

  void statement(const KStmt& s) {
    for_each_expr(s, [&](const Expr& root) {
      nodes += ir::node_count(root);
      ir::walk(root, [&](const Expr& e) {
        if (ir::is(e, Op::load) && ir::args_of(e).size() > 1) mask(ir::args_of(e)[1], true);
        return true;
      });
    });
    for (const auto* inside : s.bodies())
      for (const KStmt& k : *inside) statement(k);
  }

  void mask(const Expr& c, bool value) {
    const auto args = ir::args_of(c);
    if (ir::is(c, Op::logic_not)) return mask(args[0], !value);
    const bool uniform = std::none_of(inner_.begin(), inner_.end(), [&](Id v) { return ir::uses_var(c, v); }) && !has_load(c);
    if ((value && ir::is(c, Op::logic_and)) || (!value && !uniform && ir::is(c, Op::logic_or)))
      return mask(args[0], value), mask(args[1], value);
    if (!uniform || ir::is(c, Op::int_const)) return;
    const auto note = [&](Asked& a, bool as_it_is) { (value == as_it_is ? a.holds : a.fails) = true; };
    for (Asked& a : asked)
      for (const auto& [form, as_it_is] : a.forms)
        if (ir::same(form, c)) return note(a, as_it_is);
    const Expr simple = analysis::simplify(c, facts_), negated = analysis::simplify(ir::logic_not(c), facts_);
    for (Asked& a : asked)
      for (const bool as_it_is : {true, false})
        if (ir::same(a.condition, as_it_is ? simple : negated)) {
          a.forms.emplace_back(c, as_it_is);
          return note(a, as_it_is);
        }
    asked.push_back({simple, {{c, true}}});
    note(asked.back(), true);
  }

  const Facts& facts_;
  std::vector<Id> inner_;  // what is another one at other points
};

// The conditions that are decided where these facts hold.
Replacements decided(const Conditions& all, const Facts& facts) {
  Replacements r;
  for (const Conditions::Asked& a : all.asked)
    for (const auto& [form, as_it_is] : a.forms)
      if (analysis::can_prove(form, facts))
        r.emplace(form, ir::boolean(true));
      else if (analysis::can_prove(ir::logic_not(form), facts))
        r.emplace(form, ir::boolean(false));
  return r;
}

}  // namespace

// One condition at a time where loads want it to hold and others want it to fail, as the first steps of a recurrence and the
// later ones do; then all that would have to hold for every load to happen, at once.
std::optional<UniformChoice> uniform_choice(const KStmt& tile, const Facts& facts) {
  const Conditions all(tile, facts);
  if (!all.vectors || all.asked.empty() || all.nodes > most_nodes || all.asked.size() > most_conditions || has_collective(tile))
    return std::nullopt;
  UniformChoice choice;
  auto first = std::find_if(all.asked.begin(), all.asked.end(), [](const auto& a) { return !a.vanishes(); });
  if (first == all.asked.end() && all.asked.size() == 1) first = all.asked.begin();
  const bool one = first != all.asked.end();
  choice.condition = ir::boolean(true);
  if (one)
    choice.condition = first->condition;
  else
    for (const Conditions::Asked& a : all.asked) choice.condition = ir::logic_and(choice.condition, a.wanted());
  Facts holds = facts, fails = facts;
  holds.assume(analysis::simplify(choice.condition, facts));
  choice.holds = decided(all, holds);
  if (one) {
    fails.assume(analysis::simplify(ir::logic_not(choice.condition), facts));
    choice.fails = decided(all, fails);
    for (const auto& [form, as_it_is] : first->forms) {
      choice.holds.insert_or_assign(form, ir::boolean(as_it_is));
      choice.fails->insert_or_assign(form, ir::boolean(!as_it_is));
    }
  } else {
    for (const Conditions::Asked& a : all.asked)
      for (const auto& [form, as_it_is] : a.forms) choice.holds.insert_or_assign(form, ir::boolean(a.holds == as_it_is));
  }
  return choice;
}

}  // namespace ashlar::lowering
