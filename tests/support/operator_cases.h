// What the tests of compiled operators run on every back end: operators with their operands, edge values among them.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/numeric.h>

namespace operators {

using namespace ashlar;
using namespace ashlar::ir;
using Column = std::vector<Value>;

// One column of work: out[i] = op(in0[i], in1[i], …).
struct Case {
  Op op;
  Type result;
  std::vector<Column> inputs;
  Expr constant;                // not empty: the second operand,
  bool constant_first = false;  // or the first
};

// Edge values of a type.
inline Column edges(Type t) {
  Column all;
  if (t.is_bool()) return {int_value(t, 0), int_value(t, 1)};
  if (!t.is_float()) {
    for (std::int64_t v : {0, 1, 2, 7, 31, 100}) {
      all.push_back(int_value(t, v));
      all.push_back(int_value(t, -v));
      all.push_back(
          int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(highest_of(t)) - static_cast<std::uint64_t>(v))));
      all.push_back(
          int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(lowest_of(t)) + static_cast<std::uint64_t>(v))));
    }
    return all;
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (double v : {0.0,
                   0.25,
                   0.5,
                   0.75,
                   1.0,
                   1.5,
                   2.5,
                   3.5,
                   7.0,
                   127.5,
                   255.5,
                   300.7,
                   448.0,
                   464.0,
                   465.0,
                   32767.5,
                   65504.0,
                   65519.9,
                   65520.0,
                   8388607.5,
                   8388609.0,
                   2147483647.5,
                   4294967296.0,
                   9.2233720368547758e18,
                   1.8446744073709552e19,
                   4503599627370497.5,
                   1.1754943508222875e-38,
                   1e-40,
                   1.4e-45,
                   5e-324,
                   6e-8,
                   5.9e-8,
                   2.9e-8,
                   6.1e-5,
                   3.4e38,
                   1e300,
                   inf}) {
    all.push_back(float_value(t, v));
    all.push_back(float_value(t, -v));
  }
  all.push_back(float_value(t, std::numeric_limits<double>::quiet_NaN()));
  return all;
}

// Every edge value of a with every one of b.
inline std::vector<Column> pairs(Type a, Type b) {
  std::vector<Column> in(2);
  for (const Value& x : edges(a))
    for (const Value& y : edges(b)) {
      in[0].push_back(x);
      in[1].push_back(y);
    }
  return in;
}

// The operands of row k of a case, its constant among them.
inline std::vector<Value> operands_of(const Case& c, std::size_t k) {
  std::vector<Value> args;
  for (const Column& in : c.inputs) args.push_back(in[k]);
  if (!c.constant.empty()) args.insert(c.constant_first ? args.begin() : args.end(), value_of(c.constant));
  return args;
}

inline std::vector<Case> divisions_by_constants(Type t) {
  std::vector<Case> cases;
  for (std::int64_t c : {0, 1, 2, 3, 7, 8, 64, 100, -1, -3, -8})
    for (Op op : {Op::div, Op::mod, Op::trunc_div, Op::trunc_rem})
      if (!t.is_unsigned() || c >= 0) cases.push_back({op, t, {edges(t)}, int_const(t, c)});
  return cases;
}

inline std::vector<Case> shifts_by_wider_numbers(Type t) {
  std::vector<Case> cases;
  for (std::int64_t by : {0, 1, 3, t.bits - 1, t.bits + 0, t.bits + 1, 256, 257, 65537, -1, -255})
    for (Op op : {Op::shl, Op::shr, Op::rounding_shr}) cases.push_back({op, t, {edges(t)}, int_const(i32, by)});
  return cases;
}

inline std::vector<Case> comparisons(Type t) {
  std::vector<Case> cases;
  for (Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) cases.push_back({op, bool_, pairs(t, t), {}});
  return cases;
}

inline std::vector<Case> operators_of_floats(Type t) {
  std::vector<Case> cases = comparisons(t);
  for (Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max, Op::copysign}) cases.push_back({op, t, pairs(t, t), {}});
  for (Op op : {Op::neg, Op::abs, Op::sqrt, Op::floor, Op::ceil, Op::round, Op::trunc})
    cases.push_back({op, t, {edges(t)}, {}});
  for (Op op : {Op::isnan, Op::isinf}) cases.push_back({op, bool_, {edges(t)}, {}});
  return cases;
}

inline const auto every_type = {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, index_type, f32, f64, bool_, e4m3, e5m2};

inline std::vector<Case> conversions(Type from, Type to) {
  std::vector<Case> cases = {{Op::cast, to, {edges(from)}, {}}};
  if (!from.is_bool() && !to.is_index()) cases.push_back({Op::saturate, to, {edges(from)}, {}});
  if (from.bits == to.bits && !(from == to)) cases.push_back({Op::bitcast, to, {edges(from)}, {}});
  return cases;
}

// Operands of a fused multiply-add of f32: each pair of edge values with `thirds` others, then `near` triples near cancellation
// and near ties, where rounding twice goes wrong.
inline std::vector<Column> fused_operands(int thirds, int near) {
  std::mt19937 random(11);
  std::vector<Column> in(3);
  const Column values = edges(f32);
  for (const Value& x : values)
    for (const Value& y : values)
      for (int k = 0; k < thirds; ++k) {
        in[0].push_back(x);
        in[1].push_back(y);
        in[2].push_back(values[random() % values.size()]);
      }
  for (int k = 0; k < near; ++k) {
    const Value x = from_bits(f32, (random() & 0x807FFFFF) | 0x3F000000),
                y = from_bits(f32, (random() & 0x807FFFFF) | 0x3F800000);
    const double p = x.f * y.f;
    in[0].push_back(x);
    in[1].push_back(y);
    in[2].push_back(float_value(f32, k % 3 == 0   ? -p
                                     : k % 3 == 1 ? p * 0x1p24
                                                  : p * 0x1p-25 * (1 + static_cast<int>(random() % 5))));
  }
  return in;
}

}  // namespace operators
