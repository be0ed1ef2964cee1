// Every row of the rule table, for all values of its variables in a small range, negative ones and zero divisors included:
// where the condition holds, pattern and replacement have one value.
#include "analysis/simplify/rules.h"

#include <set>
#include <string>
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

TEST_CASE("rules have distinct names and say why they hold") {
  std::set<std::string> names;
  for (const Rule& rule : all_rules()) {
    CHECK(names.insert(rule.name).second);
    CHECK(std::string(rule.algebra).size() > 5);
  }
}
