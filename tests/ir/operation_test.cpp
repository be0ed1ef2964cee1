// The table of operators: a row each, and expansions that give what the operator gives, to the bit.
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

const Type kTypes[] = {bool_, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, e4m3, e5m2, f32, f64};

using Known = std::optional<Interval>;

// An expression over x and y, on many values of them. Operators are evaluated by their definition, or, `by_expansion`, as far
// as they have one, by what is `known` of x and y, and of numbers.
class Evaluated {
 public:
  explicit Evaluated(bool by_expansion, std::array<Known, 2> known = {}) : by_expansion_(by_expansion), of_operands_(known) {}
  Value of(const Expr& e, std::span<const Value> operands) {
    known_.clear();
    return visit(e, operands);
  }

 private:
  Value visit(const Expr& e, std::span<const Value> operands) {
    const Node& n = *e.node();
    if (n.op == Op::var) return operands[n.id - 1];
    if (n.count == 0) return value_of(e);
    if (const auto at = known_.find(&n); at != known_.end()) return at->second;
    const bool expands = by_expansion_ && !is_function(n.op) && n.op != Op::in_range;
    const Expr spelled = expands ? expansion_of(e) : Expr();
    if (!spelled.empty()) return known_[&n] = visit(spelled, operands);
    std::vector<Value> args;
    for (const Expr& a : args_of(e)) args.push_back(visit(a, operands));
    if (n.op == Op::in_range && (args[0].i < args[1].i || args[0].i >= args[2].i)) FAIL("a broken promise: " << text(e));
    const auto v = evaluate(n.op, n.type, args);
    if (!v) FAIL("no value: " << text(e));
    return known_[&n] = *v;
  }
  const Expr& expansion_of(const Expr& e) {
    const auto [at, first] = expansions_.try_emplace(e.node());
    if (first) at->second = {e, expanded({op_of(e), e.type(), args_of(e), e.node()->where, values_of(e)})};
    return at->second.second;
  }
  std::array<Known, 2> values_of(const Expr& e) const {
    std::array<Known, 2> all;
    for (std::size_t k = 0; k < std::min(all.size(), args_of(e).size()); ++k) {
      const Node& n = *args_of(e)[k].node();
      if (n.op == Op::var && n.id <= of_operands_.size()) all[k] = of_operands_[n.id - 1];
      if (n.op == Op::int_const && !(n.type.is_unsigned() && n.i < 0)) all[k] = Interval{n.i, n.i};
    }
    return all;
  }

  bool by_expansion_;
  std::array<Known, 2> of_operands_;
  std::map<const Node*, std::pair<Expr, Expr>> expansions_;
  std::map<const Node*, Value> known_;
};

std::vector<Value> values(Type t, std::mt19937_64& random, bool many = false) {
  std::vector<Value> all;
  if (t.is_float()) {
    for (const double x : {0.0,    -0.0,   1.0,     -1.0,       0.5,      1.5,      2.5,     -2.5,      255.0,
                           256.0,  300.0,  -129.0,  65504.0,    65520.0,  448.0,    464.0,   0x1p31,    0x1p32,
                           0x1p63, 0x1p64, -0x1p63, 0x1.8p-150, 0x1p-126, 0x1p-149, 0x1p-24, 0x1p-1074, 1e300})
      all.push_back(float_value(t, x)), all.push_back(float_value(t, -x));
    all.push_back(float_value(t, std::numeric_limits<double>::infinity()));
    all.push_back(float_value(t, -std::numeric_limits<double>::infinity()));
    all.push_back(float_value(t, std::numeric_limits<double>::quiet_NaN()));
    if (many && t.bits == 8)
      for (unsigned k = 0; k < 256; ++k) all.push_back(from_bits(t, k));
    for (int k = 0; k < (many ? 60 : 8); ++k) all.push_back(from_bits(t, random() & (~std::uint64_t{0} >> (64 - t.bits))));
    return all;
  }
  if (t.is_bool()) return {int_value(t, 0), int_value(t, 1)};
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{t.bits - 1},
                               std::int64_t{t.bits}, std::int64_t{t.bits + 1}, lowest_of(t), highest_of(t), lowest_of(t) + 1,
                               highest_of(t) - 1, std::int64_t{1} << (t.bits / 2)})
    all.push_back(int_value(t, v));
  for (int k = 0; k < (many ? 40 : 8); ++k) all.push_back(int_value(t, static_cast<std::int64_t>(random() >> random() % 64)));
  return all;
}

bool within(const Known& known, const Value& v) { return !known || (v.i >= known->low && v.i <= known->high); }

// Gives how many comparisons it made; none where the operator has no expansion on these types.
int compare(Op op, Type result, std::span<const Type> operands, const std::array<Known, 2>& known = {}) {
  std::vector<Expr> args;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool number = k < known.size() && known[k] && known[k]->low == known[k]->high;
    args.push_back(number ? int_const(operands[k], known[k]->low) : var(k + 1, "x", operands[k]));
  }
  const Expr e = make(op, result, args);
  if (expanded(e).empty()) return 0;
  std::mt19937_64 random(7);
  std::vector<std::vector<Value>> given;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<Value> all = values(operands[k], random, operands.size() == 1);
    if (k < known.size() && known[k]) {
      std::erase_if(all, [&](const Value& v) { return !within(known[k], v); });
      for (const std::int64_t v : {known[k]->low, known[k]->high}) all.push_back(int_value(operands[k], v));
    }
    given.push_back(std::move(all));
  }
  Evaluated by_definition(false), by_expansion(true, known);
  int wrong = 0, compared = 0;
  std::vector<Value> at(operands.size());
  const auto check = [&] {
    ++compared;
    const Value want = by_definition.of(e, at), got = by_expansion.of(e, at);
    if (same_value(want, got) || wrong++ > 2) return;
    std::string shown;
    for (const Value& v : at) shown += " " + text(v);
    MESSAGE(std::string(op_name(op)) << " of " << text(operands[0]) << " to " << text(result) << ":" << shown << " gives "
                                     << text(got) << ", expected " << text(want));
  };
  for (std::size_t i = 0; i < given[0].size(); ++i) {
    at[0] = given[0][i];
    if (operands.size() == 1) check();
    if (operands.size() == 1) continue;
    const std::size_t step = given[1].size() > 4 ? 2 : 1;
    for (std::size_t j = i % step; j < given[1].size(); j += step) {
      at[1] = given[1][j];
      if (op == Op::copysign && std::isnan(at[1].f)) continue;  // whose sign is not defined
      for (std::size_t k = 2; k < at.size(); ++k) at[k] = given[k][random() % given[k].size()];
      check();
    }
  }
  CHECK_MESSAGE(wrong == 0, std::string(op_name(op)) << " of " << text(operands[0]) << " to " << text(result));
  return compared;
}

// With a second operand that is a number, or one of a range.
int compare_known(Op op, Type result, std::span<const Type> operands) {
  const Type t = operands[1];
  const std::int64_t bits = operands[0].bits;
  std::vector<Interval> all{{0, bits}, {0, 257}, {1, 4}, {1, bits - 1}, {1, bits}, {2, 300}, {bits, 1000}, {-3, 2}, {-300, -1}};
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, bits - 1, bits, bits + 1, std::int64_t{256},
                               std::int64_t{257}, std::int64_t{65537}, std::int64_t{-1}, std::int64_t{-127}, std::int64_t{-255},
                               lowest_of(t), lowest_of(t) + 1, highest_of(t)})
    all.push_back({v, v});
  int compared = 0;
  for (const Interval& v : all) {
    const bool in_type = int_value(t, v.low).i == v.low && int_value(t, v.high).i == v.high && !(t.is_unsigned() && v.low < 0);
    if (in_type) compared += compare(op, result, operands, {std::nullopt, v});
  }
  return compared;
}

}  // namespace

TEST_CASE("a row an operator, each with a name of its own") {
  std::set<std::string> names;
  for (const Operation& row : operations()) {
    CHECK(&operation(row.op) == &row);
    CHECK(op_name(row.op) == std::string(row.name));
    CHECK(names.insert(row.name).second);
    CHECK((row.laws.binds == 0 || *row.laws.sign));
  }
  CHECK(operations().back().op == Op::broadcast);
}

TEST_CASE("laws are those of the definition") {
  std::mt19937_64 random(5);
  for (const Operation& row : operations()) {
    if (row.operands != 2 || (!row.laws.commutes && !row.laws.regroups) || row.takes == Takes::bools) continue;
    for (const Type t : {i8, u8, i32, u64}) {
      const bool compares = row.takes == Takes::pair;
      const Type result = compares ? bool_ : row.op == Op::abs_diff ? Type{Type::Code::unsigned_, t.bits} : t;
      const auto apply = [&](const Value& x, const Value& y) {
        const Value args[] = {x, y};
        return *evaluate(row.op, result, args);
      };
      const std::vector<Value> all = values(t, random);
      for (const Value& x : all)
        for (const Value& y : all) {
          if (row.laws.commutes) CHECK(same_value(apply(x, y), apply(y, x)));
          const Value& z = all[random() % all.size()];
          if (row.laws.regroups) CHECK(same_value(apply(apply(x, y), z), apply(x, apply(y, z))));
        }
    }
  }
}

TEST_CASE("a neutral number changes nothing") {
  std::mt19937_64 random(6);
  int compared = 0;
  for (const Operation& row : operations()) {
    if (row.laws.neutral == Neutral::none) continue;
    CHECK(row.operands == 2);
    for (const Type t : kTypes) {
      if (row.takes == Takes::bools ? !t.is_bool() : t.is_bool() && row.kind != Kind::bits) continue;
      if (t.is_float() && row.kind == Kind::bits) continue;
      const Value neutral = value_of(identity_of(row.op, t));
      for (const Value& x : values(t, random)) {
        if (t.is_float() && (std::isnan(x.f) || (row.op == Op::add && x.f == 0))) continue;  // 0 + -0 is 0
        if (t == e4m3 && std::abs(x.f) > 448) continue;
        for (const bool left : {true, false}) {
          const Value args[] = {left ? neutral : x, left ? x : neutral};
          CHECK_MESSAGE(same_value(*evaluate(row.op, t, args), x), std::string(row.name)
                                                                       << " of " << text(t) << ": " << text(x));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 0);
  CHECK_THROWS_WITH_AS(identity_of(Op::sub, i32), doctest::Contains("no number is neutral to sub"), InternalError);
}

TEST_CASE("machines take exception to divisors and broken promises alone; memory and functions say more than operands") {
  std::set<std::string> traps, impure;
  for (const Operation& row : operations()) {
    if (row.laws.may_trap) traps.insert(row.name);
    if (!row.laws.pure) impure.insert(row.name);
  }
  CHECK(traps == std::set<std::string>{"div", "mod", "trunc_div", "trunc_rem", "in_range"});
  CHECK(impure == std::set<std::string>{"load", "call"});
}

TEST_CASE("an expansion gives what the operator gives") {
  for (const Operation& row : operations()) {
    // functions, and the remainder of floats, are defined by theirs; a promise is its first operand
    if (!row.laws.spelled || row.kind == Kind::function || row.kind == Kind::promise) continue;
    int compared = 0;
    for (const Type t : kTypes) {
      const std::vector<Type> operands(static_cast<std::size_t>(row.operands), t);
      switch (row.takes) {
        case Takes::own:
          if (row.kind == Kind::fixed_point && !t.is_data_integer()) continue;
          if (row.kind == Kind::bits && t.is_float()) continue;
          if (row.op == Op::copysign && !t.is_float()) continue;
          if (row.laws.may_trap && row.op != Op::div && t.is_float()) continue;
          if ((row.kind == Kind::rounding || row.op == Op::fma) && t.is_bool()) continue;
          compared += compare(row.op, t, operands);
          if (row.kind == Kind::fixed_point || (row.laws.may_trap && t.is_data_integer()))
            compared += compare_known(row.op, t, operands);
          break;
        case Takes::pair:
          compared += compare(row.op, bool_, operands);
          break;
        case Takes::real:
          if (t.is_float()) compared += compare(row.op, bool_, operands);
          break;
        case Takes::any:
          for (const Type to : kTypes)
            if (row.op != Op::bitcast) compared += compare(row.op, to, operands);
          break;
        case Takes::count:
          if (t.is_data_integer())
            for (const Type amount : {t, u8, i32, i64, u64}) {
              const Type both[] = {t, amount};
              compared += compare(row.op, t, both) + compare_known(row.op, t, both);
            }
          break;
        case Takes::other:
          if (row.op == Op::abs_diff && t.is_data_integer())
            compared += compare(row.op, Type{Type::Code::unsigned_, t.bits}, operands);
          break;
        case Takes::bools:
          if (t.is_bool()) compared += compare(row.op, bool_, operands);
          break;
      }
    }
    CHECK_MESSAGE(compared > 0, std::string(row.name) << " was never compared");
  }
}

TEST_CASE("a promise is its first operand") {
  const Expr args[] = {var(1, "x", i32), int_const(i32, 1), int_const(i32, 4)};
  CHECK(same(expanded(make(Op::in_range, i32, args)), args[0]));
}
