// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of frequent operators give what `evaluate` gives, for every operator and every type that has one.
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/ir/direct.h>
#include <ashlar/ir/operation.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

const Type kTypes[] = {bool_, i4, u4, i8, u8, i16, u16, i32, u32, i64, u64, index_type, f16, bf16, e4m3, e5m2, f32, f64};

// Values at the ends of a type's range and near 0, and some between.
std::vector<Value> values_of(Type t, std::mt19937_64& random) {
  std::vector<Value> all;
  if (t.is_float()) {
    const double largest = std::numeric_limits<double>::max();
    for (double x : {0.0, 1.0, 1.5, 0.3, 7.0, 300.0, 65504.0, 1e30, 1e-30, 4e-42, 5e-324, largest,
                     std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      all.push_back(float_value(t, x));
      all.push_back(float_value(t, -x));
    }
    for (int k = 0; k < 12; ++k)
      all.push_back(float_value(t, std::ldexp(static_cast<double>(random() >> 11), int(random() % 60) - 80)));
    return all;
  }
  for (std::int64_t x : {0, 1, 2, 3, 7, -1, -2, -7}) all.push_back(int_value(t, x));
  for (std::int64_t x : {0, 1, 2}) {
    all.push_back(int_value(t, lowest_of(t) + x));
    all.push_back(int_value(t, highest_of(t) - (t.is_bool() ? 0 : x)));
  }
  for (int k = 0; k < 8; ++k) all.push_back(int_value(t, static_cast<std::int64_t>(random() >> (random() % 64))));
  return all;
}

// Compares on all pairs of values, with a third drawn; the number of comparisons.
int compared(const Operation& row, Type result, std::span<const Type> operands, std::mt19937_64& random) {
  const Direct f = direct(row.op, result, operands[0]);
  if (!f) return 0;
  int count = 0;
  const auto a = values_of(operands[0], random), b = values_of(operands[operands.size() > 1 ? 1 : 0], random),
             c = values_of(operands[operands.size() > 2 ? 2 : 0], random);
  for (const Value& x : a)
    for (const Value& y : b) {
      const Value args[3] = {x, y, c[random() % c.size()]};
      const auto expected = evaluate(row.op, result, {args, operands.size()});
      Value found{result, {}};
      const bool has_value = f(args[0], args[1], args[2], found);
      INFO(row.name << " of " << text(x) << ", " << text(y) << ", " << text(args[2]));
      REQUIRE(has_value == expected.has_value());
      if (expected) REQUIRE(same_value(found, *expected));
      ++count;
    }
  return count;
}

}  // namespace

TEST_CASE("functions of frequent operators give what evaluate gives") {
  std::mt19937_64 random(31);
  std::set<Op> reached;
  for (const Operation& row : operations()) {
    if (row.operands < 1 || row.operands > 3) continue;
    const auto check = [&](Type result, std::initializer_list<Type> operands) {
      const std::span<const Type> all(operands.begin(), static_cast<std::size_t>(row.operands));
      if (compared(row, result, all, random) > 0) reached.insert(row.op);
    };
    for (const Type t : kTypes) {
      if (row.op == Op::cast)
        for (const Type to : kTypes) check(to, {t, t, t});
      else if (row.op == Op::select)
        check(t, {bool_, t, t});
      else
        check(row.kind == Kind::comparison || row.kind == Kind::test ? bool_ : t, {t, t, t});
    }
  }
  for (const Op op : {Op::add,       Op::sub,      Op::mul,       Op::div,     Op::mod,    Op::min,     Op::max,    Op::neg,
                      Op::abs,       Op::fma,      Op::eq,        Op::ne,      Op::lt,     Op::le,      Op::gt,     Op::ge,
                      Op::logic_and, Op::logic_or, Op::logic_not, Op::bit_and, Op::bit_or, Op::bit_xor, Op::select, Op::cast})
    CHECK_MESSAGE(reached.count(op) == 1, operation(op).name);
}
