// A case for every row of the rule table, by its name: an expression that this row rewrites before any other, under facts that
// prove its condition, and the result. A row without a case fails, as does a case that its row does not rewrite. A row that the
// form carries out is documentation: its case comes to the result without any row.
#include "analysis/simplify/rules.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

#include "analysis/simplify/engine.h"
#include "tests/support/xorshift.h"

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

struct Case {
  const char* rule;
  Expr before;
  const char* after;
  std::function<void(Facts&)> facts = [](Facts&) {};
  const char* asked = nullptr;  // a row that applies before, in a question that suggests a constant of this one
};

constexpr Id id_x = 1, id_y = 2, id_z = 3, id_n = 4, id_m = 5;

// Without folding, so that the simplifier sees the expression as it stands here.
Expr plain(Op op, const Expr& a, const Expr& b) {
  const bool truth = is_comparison(op) || a.type().is_bool();
  return make(op, truth ? bool_ : a.type(), std::array{a, b});
}
Expr negated(const Expr& p) { return make(Op::logic_not, bool_, std::array{p}); }
Expr choice(const Expr& p, const Expr& a, const Expr& b) { return make(Op::select, a.type(), std::array{p, a, b}); }
Expr least(const Expr& a, const Expr& b) { return plain(Op::min, a, b); }
Expr most(const Expr& a, const Expr& b) { return plain(Op::max, a, b); }
Expr bits(Op op, const Expr& a, const Expr& b) { return plain(op, a, b); }

std::vector<Case> cases() {
  const Expr x = var(id_x, "x"), y = var(id_y, "y"), z = var(id_z, "z"), N = var(id_n, "N"), M = var(id_m, "M");
  const Expr p = var(11, "p", bool_), q = var(12, "q", bool_), yes = boolean(true), no = boolean(false);
  const auto n = [](std::int64_t v) { return index(v); };
  const auto within = [](Id v, std::int64_t lo, std::int64_t hi) { return [=](Facts& f) { f.bound(v, lo, hi); }; };
  const auto from = [](Id v, std::int64_t lo) { return [=](Facts& f) { f.bound(v, lo, {}); }; };
  const auto of = [](Id v, std::int64_t multiple) { return [=](Facts& f) { f.multiple(v, multiple); }; };
  const auto below = [](Id v, const Expr& end) { return [=](Facts& f) { f.range(v, index(0), sub(end, index(1))); }; };
  const auto know = [](const Expr& condition) { return [=](Facts& f) { f.assume(condition); }; };
  return {
      {"div.zero", plain(Op::div, x, n(0)), "0"},
      {"div.of_zero", plain(Op::div, n(0), y), "0"},
      {"div.negative", div(x, n(-3)), "-x / 3"},
      {"div.inside", div(x, n(4)), "2", within(id_x, 8, 11)},
      {"div.small", div(x, N), "0", below(id_x, N)},
      {"div.split", div(add(mul(x, n(4)), y), n(4)), "x + y / 4"},
      {"div.content", div(add(mul(x, n(6)), n(1)), n(4)), "x * 3 / 2"},
      {"div.carry", div(add(mul(x, n(4)), y), n(8)), "x / 2", within(id_y, 0, 3)},
      {"div.congruent", div(add(x, n(5)), n(8)), "(x + 4) / 8", of(id_x, 4)},
      {"div.nested", div(add(div(x, n(4)), n(3)), n(8)), "(x + 12) / 32"},
      {"div.of_mod", div(mod(x, n(12)), n(4)), "x / 4 % 3"},
      {"div.of_min", div(least(x, y), n(4)), "min(x / 4, y / 4)"},
      {"div.of_max", div(most(x, y), n(4)), "max(x / 4, y / 4)"},
      {"div.of_select", div(select(p, x, y), n(4)), "select(p, x / 4, y / 4)"},
      {"mod.zero", plain(Op::mod, x, n(0)), "0"},
      {"mod.of_zero", plain(Op::mod, n(0), y), "0"},
      {"mod.negative", mod(x, n(-3)), "-(-x % 3)"},
      {"mod.known", mod(add(x, n(7)), n(4)), "3", of(id_x, 4)},
      {"mod.inside", mod(x, n(4)), "x - 8", within(id_x, 8, 11)},
      {"mod.small", mod(x, N), "x", below(id_x, N)},
      {"mod.split", mod(add(mul(x, N), y), N), "y % N", from(id_n, 1)},
      {"mod.content", mod(add(mul(x, n(6)), n(1)), n(4)), "x % 2 * 2 + 1"},
      {"mod.carry", mod(add(mul(x, n(4)), y), n(8)), "x % 2 * 4 + y", within(id_y, 0, 3)},
      {"mod.nested", mod(add(mul(mod(x, n(4)), n(6)), y), n(8)), "(x * 6 + y) % 8"},
      {"mod.coefficient", mod(add(mul(x, n(5)), y), n(4)), "(x + y) % 4"},
      {"div.of_xor", div(bits(Op::bit_xor, x, y), n(8)), "x / 8 ^ y / 8"},
      {"mod.of_xor", mod(bits(Op::bit_xor, x, y), n(8)), "x % 8 ^ y % 8"},
      {"xor.twice", bits(Op::bit_xor, bits(Op::bit_xor, x, y), y), "x"},
      {"xor.twice2", bits(Op::bit_xor, bits(Op::bit_xor, x, y), x), "y"},
      {"xor.high", bits(Op::bit_xor, x, y), "x / 8 * 8 + (y ^ x % 8)", within(id_y, 0, 7)},
      {"xor.low", bits(Op::bit_xor, x, mul(y, n(4))), "(y ^ x / 4) * 4 + x % 4"},
      {"and.mask", bits(Op::bit_and, x, n(7)), "x % 8"},
      {"and.high", bits(Op::bit_and, x, n(-8)), "x - x % 8"},
      {"or.disjoint", bits(Op::bit_or, mul(x, n(8)), y), "x * 8 + y", within(id_y, 0, 7), "mod.known"},
      {"mul.quotient", mul(div(x, n(4)), n(8)), "x * 2", of(id_x, 4)},
      {"add.div_mod", add(mul(div(add(mul(x, n(5)), n(2)), n(4)), n(4)), mod(add(x, n(2)), n(4))), "x * 5 + 2"},
      {"add.div_mod_symbol", add(mul(div(x, N), N), mod(x, N)), "x", from(id_n, 1)},
      {"add.min_max", add(mul(least(x, y), n(3)), mul(most(x, y), n(3))), "x * 3 + y * 3"},
      {"add.remainder", sub(x, mul(div(x, n(4)), n(4))), "x % 4"},
      {"min.decided", least(x, y), "x", know(le(x, y))},
      {"min.absorbs", least(least(x, y), z), "min(x, z)", know(le(z, y))},
      {"min.absorbs2", least(least(x, y), z), "min(y, z)", know(le(z, x))},
      {"min.common", least(add(x, z), add(y, z)), "z + min(x, y)"},
      {"min.content", least(mul(x, n(3)), mul(y, n(3))), "min(x, y) * 3"},
      {"max.decided", most(x, y), "x", know(le(y, x))},
      {"max.absorbs", most(most(x, y), z), "max(x, z)", know(le(y, z))},
      {"max.absorbs2", most(most(x, y), z), "max(y, z)", know(le(x, z))},
      {"max.common", most(add(x, z), add(y, z)), "z + max(x, y)"},
      {"max.content", most(mul(x, n(3)), mul(y, n(3))), "max(x, y) * 3"},
      {"select.same", choice(p, x, x), "x"},
      {"select.not", choice(negated(p), x, y), "select(p, y, x)"},
      {"select.min", choice(le(x, y), x, y), "min(x, y)"},
      {"select.min_lt", choice(lt(x, y), x, y), "min(x, y)"},
      {"select.max", choice(le(x, y), y, x), "max(x, y)"},
      {"select.max_lt", choice(lt(x, y), y, x), "max(x, y)"},
      {"select.equal", choice(eq(x, y), x, y), "y"},
      {"select.equal2", choice(eq(x, y), y, x), "x"},
      {"select.bool", choice(p, yes, no), "p"},
      {"select.inner", choice(p, choice(p, x, y), z), "select(p, x, z)"},
      {"select.inner2", choice(p, x, choice(p, y, z)), "select(p, x, z)"},
      {"and.false", plain(Op::logic_and, p, no), "false"},
      {"and.true", plain(Op::logic_and, p, yes), "p"},
      {"and.same", plain(Op::logic_and, p, p), "p"},
      {"and.again", plain(Op::logic_and, plain(Op::logic_and, p, q), p), "p && q"},
      {"and.again2", plain(Op::logic_and, plain(Op::logic_and, p, q), q), "p && q"},
      {"and.not", plain(Op::logic_and, p, negated(p)), "false"},
      {"or.true", plain(Op::logic_or, p, yes), "true"},
      {"or.false", plain(Op::logic_or, p, no), "p"},
      {"or.same", plain(Op::logic_or, p, p), "p"},
      {"or.not", plain(Op::logic_or, p, negated(p)), "true"},
      {"not.not", negated(negated(p)), "p"},
      {"not.lt", negated(lt(x, y)), "y <= x"},
      {"not.le", negated(le(x, y)), "y < x"},
      {"not.eq", negated(eq(x, y)), "x != y"},
      {"not.ne", negated(ne(x, y)), "x == y"},
      {"lt.step", plain(Op::le, x, sub(y, n(1))), "x < y"},
      {"le.cancel", plain(Op::le, add(x, z), add(y, z)), "x <= y"},
      {"le.content", plain(Op::le, mul(x, n(4)), n(11)), "x < 3"},
      {"le.min", plain(Op::le, z, least(x, y)), "z <= x && z <= y"},
      {"le.max", plain(Op::le, most(x, y), z), "x <= z && y <= z"},
      {"eq.content", plain(Op::eq, mul(x, n(4)), n(11)), "false"},
  };
}

const Rule* rule_of(const char* name) {
  for (const Rule& rule : all_rules())
    if (std::string(rule.name) == name) return &rule;
  return nullptr;
}

std::string names(const std::vector<const Rule*>& rules) {
  std::string s;
  for (const Rule* rule : rules) s += (s.empty() ? "" : ", ") + std::string(rule->name);
  return s.empty() ? "no row" : s;
}

// The pattern of a row, written for data of a type: constants of the row are drawn, other variables are data.
Expr of_data(const Expr& pattern, Type t, Xorshift& random, std::map<int, Expr>& drawn) {
  const int v = pattern_var(pattern);
  const auto constant = [&](std::int64_t value) {
    return t.is_float() ? float_const(t, static_cast<double>(value)) : int_const(t, value);
  };
  if (v >= 0) {
    if (const auto it = drawn.find(v); it != drawn.end()) return it->second;
    const Id id = 100 + static_cast<Id>(v);
    const Expr e = v == pp || v == pq ? var(id, pattern.node()->name, bool_)
                   : is_constant_var(v)
                       ? constant(std::array<std::int64_t, 5>{1, 2, 3, 4, 8}[static_cast<std::size_t>(random.in(0, 4))])
                       : var(id, pattern.node()->name, t);
    return drawn.emplace(v, e).first->second;
  }
  if (is(pattern, Op::int_const)) return pattern.type().is_bool() ? pattern : constant(pattern.node()->i);
  std::vector<Expr> args;
  for (const Expr& a : args_of(pattern)) args.push_back(of_data(a, t, random, drawn));
  return make(op_of(pattern), pattern.type().is_bool() ? bool_ : t, args);
}

Value value_at(const Expr& e, const std::map<Id, Value>& at) {
  if (is(e, Op::var)) return at.at(e.node()->id);
  if (is(e, Op::int_const) || is(e, Op::float_const)) return value_of(e);
  std::vector<Value> args;
  for (const Expr& a : args_of(e)) args.push_back(value_at(a, at));
  const auto v = ir::evaluate(op_of(e), e.type(), args);
  REQUIRE_MESSAGE(v, ir::text(e));
  return *v;
}

Value drawn_value(Type t, Xorshift& random) {
  if (t.is_float()) {
    const double special[] = {0.0, -0.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1.0, -2.5, 3.0};
    return float_value(t, special[random.in(0, 7)]);
  }
  const std::int64_t special[] = {0, 1, -1, lowest_of(t), highest_of(t), 3, -7};
  return int_value(t, random.coin(3) ? static_cast<std::int64_t>(random.next()) : special[random.in(0, 6)]);
}

}  // namespace

TEST_CASE("every row of the table has a case, and every case a row") {
  std::set<std::string> rows, tried;
  for (const Rule& rule : all_rules()) rows.insert(rule.name);
  for (const Case& c : cases()) {
    CHECK_MESSAGE(rows.count(c.rule), c.rule);
    CHECK_MESSAGE(tried.insert(c.rule).second, c.rule);
  }
  for (const std::string& row : rows) CHECK_MESSAGE(tried.count(row), row);
}

TEST_CASE("the row that a case names rewrites it first, and without the row its result is another") {
  for (const Case& c : cases()) {
    const Rule* rule = rule_of(c.rule);
    REQUIRE(rule);
    Facts facts;
    c.facts(facts);
    AppliedRules applied;
    const std::string after = text(Engine(facts).simplify(c.before));
    INFO(c.rule << ": " << text(c.before) << " becomes " << after << " by " << names(applied.rules));
    CHECK(after == c.after);
    if (rule->carried_out_by_form) {
      CHECK(applied.rules.empty());
      CHECK(after != text(c.before));
      continue;
    }
    const std::size_t first = c.asked ? 1 : 0;
    REQUIRE(applied.rules.size() > first);
    CHECK(applied.rules[first] == rule);
    if (c.asked) CHECK(std::string(applied.rules[0]->name) == c.asked);
    AppliedRules others(rule);
    CHECK(text(Engine(facts).simplify(c.before)) != after);
  }
}

TEST_CASE("cases have one value before and after, also at the ends of 64 bits") {
  constexpr std::int64_t ends[] = {INT64_MIN,     INT64_MIN + 1, -(std::int64_t{1} << 62), -1, 0, 1, std::int64_t{1} << 62,
                                   INT64_MAX - 1, INT64_MAX};
  Xorshift random{20};
  for (const Case& c : cases()) {
    Facts facts;
    c.facts(facts);
    const Expr after = Engine(facts).simplify(c.before);
    for (const Id truth : {Id{11}, Id{12}}) facts.bound(truth, 0, 1);
    const std::array both{c.before, after};
    Sampler sampler(both, facts);
    INFO(c.rule << ": " << text(c.before) << " -> " << text(after));
    int compared = 0;
    const auto compare_at = [&](const Assignment& at) {
      const auto a = evaluate(c.before, at), b = evaluate(after, at);
      if (!a || !b) return;  // leaves 63 bits on the way
      ++compared;
      CHECK_MESSAGE(*a == *b, analysis::text(at));
    };
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      if (!sampler.sample(seed)) continue;
      compare_at(sampler.assignment());
      Assignment far = sampler.assignment();
      for (Binding& b : far)
        if (random.coin(2)) b.value = ends[random.in(0, 8)];
      if (sampler.allows(far)) compare_at(far);
    }
    CHECK(compared >= 20);
  }
}

TEST_CASE("no row rewrites data, which wrap or round: their values stay equal to the bit") {
  Xorshift random{7};
  const std::vector<Type> types{i8, u8, i32, u32, i64, u64, f16, f32, f64};
  for (const Rule& rule : all_rules()) {
    bool of_numbers = false, of_bits = false;
    walk(rule.pattern, [&](const Expr& e) {
      const Op op = op_of(e);
      of_numbers = of_numbers || (pattern_var(e) >= 0 && !e.type().is_bool());
      of_bits = of_bits || op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor || op == Op::mod;
      return true;
    });
    for (const Type t : types) {
      if (!of_numbers || (of_bits && t.is_float())) continue;
      for (int draw = 0; draw < 8; ++draw) {
        std::map<int, Expr> drawn;
        const Expr before = of_data(rule.pattern, t, random, drawn);
        AppliedRules applied;
        const Facts none;
        const Expr after = Engine(none).simplify(before);
        INFO(rule.name << ": " << text(before) << " -> " << text(after) << " by " << names(applied.rules));
        CHECK(applied.rules.empty());
        for (int point = 0; point < 40; ++point) {
          std::map<Id, Value> at;
          for (const auto& [v, e] : drawn)
            if (is(e, Op::var))
              at[e.node()->id] = e.type().is_bool() ? int_value(bool_, random.in(0, 1)) : drawn_value(t, random);
          CHECK(same_value(value_at(before, at), value_at(after, at)));
        }
      }
    }
  }
}

TEST_CASE("rows of conditions hold where the conditions are of floats, NaN among them") {
  Xorshift random{11};
  const Expr a = var(21, "a", f32), b = var(22, "b", f32);
  for (const Rule& rule : all_rules()) {
    bool of_numbers = false;
    walk(rule.pattern, [&](const Expr& e) {
      of_numbers = of_numbers || (pattern_var(e) >= 0 && !e.type().is_bool());
      return true;
    });
    if (of_numbers) continue;
    for (const Op first : {Op::lt, Op::le, Op::eq, Op::ne, Op::gt, Op::ge}) {
      const Expr before =
          substitute(rule.pattern, {{first_pattern_id + pp, plain(first, a, b)}, {first_pattern_id + pq, plain(Op::lt, b, a)}});
      const Facts none;
      const Expr after = Engine(none).simplify(before);
      INFO(rule.name << ": " << text(before) << " -> " << text(after));
      for (int point = 0; point < 40; ++point) {
        const std::map<Id, Value> at{{21, drawn_value(f32, random)}, {22, drawn_value(f32, random)}};
        CHECK(same_value(value_at(before, at), value_at(after, at)));
      }
    }
  }
}
