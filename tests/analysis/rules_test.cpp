// Every row of the rule table, for all values of its variables in a small range, negative ones and zero divisors included:
// where the condition holds, pattern and replacement have one value.
#include "analysis/simplify/rules.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/analysis/simplify.h>

using namespace ashlar;
using namespace ashlar::analysis;

namespace {

struct Count {
  long checked = 0, failed = 0;
  std::string first_failure;
};

void enumerate(const Rule& rule, Assignment& at, std::size_t k, std::int64_t reach, Count& count) {
  if (k == at.size()) {
    if (!rule.condition.empty()) {
      const auto holds = evaluate(rule.condition, at);
      if (!holds || !*holds) return;
    }
    ++count.checked;
    const auto before = evaluate(rule.pattern, at), after = evaluate(rule.replacement, at);
    if (before && after && *before == *after) return;
    if (count.failed++ == 0) count.first_failure = text(at);
    return;
  }
  const int v = static_cast<int>(at[k].id - first_pattern_id);
  const bool is_bool = v == pp || v == pq;
  for (std::int64_t value = is_bool ? 0 : -reach; value <= (is_bool ? 1 : reach); ++value) {
    at[k].value = value;
    enumerate(rule, at, k + 1, reach, count);
  }
}

Assignment variables_of(const Rule& rule) {
  Assignment at;
  const auto collect = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (pattern_var(x) < 0) return true;
      for (const Binding& b : at)
        if (b.id == x.node()->id) return true;
      at.push_back({x.node()->id, x.node()->name, 0});
      return true;
    });
  };
  collect(rule.pattern);
  collect(rule.replacement);
  collect(rule.condition);
  return at;
}

}  // namespace

TEST_CASE("every rule holds for every small value of its variables") {
  for (const Rule& rule : all_rules()) {
    Assignment at = variables_of(rule);
    Count count;
    enumerate(rule, at, 0, at.size() > 4 ? 5 : at.size() > 3 ? 8 : 12, count);
    INFO(rule.name << ": " << ir::text(rule.pattern) << " -> " << ir::text(rule.replacement) << " fails at "
                   << count.first_failure);
    CHECK(count.failed == 0);
    CHECK(count.checked > 0);
  }
}

TEST_CASE("the harness would see a wrong rule") {
  const Expr x = ir::var(first_pattern_id + px, "x"), c = ir::var(first_pattern_id + pc, "c");
  // Truncating division would let the sign through; floor division does not.
  const Rule wrong{"wrong", "-(x/c) is not (-x)/c", ir::neg(ir::div(x, c)), ir::div(ir::neg(x), c), ir::lt(ir::index(0), c)};
  Assignment at = variables_of(wrong);
  Count count;
  enumerate(wrong, at, 0, 6, count);
  CHECK(count.failed > 0);
}

// An expression that a rule is looked for in: its pattern, with an expression for each variable.
struct Instance {
  std::vector<std::pair<ir::Id, Expr>> at;
  Facts facts;
};

// Built as the pattern stands: the builders of ir fold, and what they fold no rule sees.
Expr instance_of(const Expr& pattern, const std::vector<std::pair<ir::Id, Expr>>& at) {
  if (pattern_var(pattern) >= 0) {
    for (const auto& [id, e] : at)
      if (id == pattern.node()->id) return e;
    return pattern;
  }
  std::vector<Expr> args;
  for (const Expr& a : ir::args_of(pattern)) args.push_back(instance_of(a, at));
  return args.empty() ? pattern : ir::make(ir::op_of(pattern), pattern.type(), args);
}

// Does the rule apply where its pattern is simplified, for some choice of what its variables stand for?
bool applies_somewhere(const Rule& rule, const Assignment& variables, std::size_t k, Instance& in) {
  if (k == variables.size()) {
    const Expr e = instance_of(rule.pattern, in.at);
    AppliedRules applied;
    simplify(e, in.facts);
    return std::count(applied.rules.begin(), applied.rules.end(), &rule) > 0;
  }
  const ir::Id id = variables[k].id;
  const int v = static_cast<int>(id - first_pattern_id);
  const ir::Id own = 1000 + static_cast<ir::Id>(v) * 10;
  const std::string name = variables[k].name;
  const auto attempt = [&](const Expr& e, const std::function<void(Facts&)>& know) {
    const Facts before = in.facts;
    know(in.facts);
    in.at.push_back({id, e});
    const bool found = applies_somewhere(rule, variables, k + 1, in);
    in.at.pop_back();
    in.facts = before;
    return found;
  };
  const auto nothing = [](Facts&) {};
  if (v == pp || v == pq) return attempt(ir::var(own, name, bool_), nothing);
  if (is_constant_var(v)) {
    for (const std::int64_t n : {2, 4, -2, 3, 6, 8, 12, 0, -4, 5})
      if (attempt(ir::index(n), nothing)) return true;
    return false;
  }
  const Expr shared = ir::var(999, "s");  // what several variables stand for
  const Expr free = ir::var(own, name), bit = ir::var(own + 1, name), digit = ir::var(own + 2, name);
  const auto within = [](const Expr& e, std::int64_t end) {
    return [=](Facts& f) { f.assume(ir::le(ir::index(0), e)), f.assume(ir::lt(e, ir::index(end))); };
  };
  return attempt(free, [&](Facts& f) { f.multiple(own, 4); }) || attempt(ir::mul(shared, ir::index(3)), nothing) ||
         attempt(shared, nothing) || attempt(free, nothing) || attempt(bit, within(bit, 2)) ||
         attempt(digit, within(digit, 64)) || attempt(free, [&](Facts& f) { f.assume(ir::lt(ir::index(0), free)); }) ||
         attempt(ir::mul(digit, ir::index(4)), within(digit, 64)) || attempt(ir::add(digit, ir::index(4)), within(digit, 2));
}

TEST_CASE("every rule that is matched applies to an instance of its own pattern") {
  for (const Rule& rule : all_rules()) {
    if (rule.carried_out_by_form) continue;
    INFO(rule.name << ": " << ir::text(rule.pattern) << " -> " << ir::text(rule.replacement));
    Assignment variables;
    for (const Binding& b : variables_of(rule)) {
      if (ir::uses_var(rule.pattern, b.id)) variables.push_back(b);
    }
    Instance in;
    CHECK(applies_somewhere(rule, variables, 0, in));
  }
}

TEST_CASE("rules have distinct names and say why they hold") {
  std::set<std::string> names;
  for (const Rule& rule : all_rules()) {
    CHECK(names.insert(rule.name).second);
    CHECK(std::string(rule.algebra).size() > 5);
  }
}
