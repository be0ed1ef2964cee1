// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation of operators on single values; docs/ir.md, "Arithmetic", is the prose of this file.
#include <ashlar/ir/numeric.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>

#include "ir/math/value.h"
#include "ir/wide.h"

namespace ashlar::ir {

namespace {

std::uint64_t low_mask(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

[[noreturn]] void wrong_type(Op op, Type t) {
  throw InternalError("evaluate: operator " + std::to_string(static_cast<int>(op)) + " does not take operands of type code " +
                      std::to_string(static_cast<int>(t.code)) + ", " + std::to_string(t.bits) + " bits");
}

// A mathematical integer brought back into the type: data integers wrap; an index that leaves 63 bits has no value.
std::optional<Value> narrowed(Type t, Wide x) {
  if (t.is_index() && (x > INT64_MAX || x < INT64_MIN)) return std::nullopt;
  return int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(x)));
}

Value truth(bool b) {
  Value v;
  v.type = bool_;
  v.i = b;
  return v;
}

Wide floor_div_wide(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

// Shift amounts are read as unsigned: a negative one, like one of the type's width or more, shifts everything out.
std::uint64_t amount(const Value& v) { return to_bits(v); }

Value shifted_right(Type t, const Value& x, std::uint64_t by) {
  const auto bits = static_cast<std::uint64_t>(t.bits);
  if (t.is_unsigned()) return int_value(t, by >= bits ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(x.i) >> by));
  return int_value(t, x.i >> (by >= bits ? bits - 1 : by));
}

std::optional<Value> integer_shift(Op op, Type t, const Value& x, const Value& s) {
  const std::uint64_t by = amount(s);
  if (op == Op::shr) return shifted_right(t, x, by);
  if (op == Op::rounding_shr) {
    if (by == 0) return x;
    return narrowed(t, wide(shifted_right(t, x, by)) + (shifted_right(t, x, by - 1).i & 1));
  }
  if (by >= static_cast<std::uint64_t>(t.bits)) return int_value(t, 0);
  return narrowed(t, wide(x) * (static_cast<Wide>(1) << by));
}

std::optional<Value> integer_unary(Op op, Type t, const Value& x) {
  switch (op) {
    case Op::neg:
      return narrowed(t, -wide(x));
    case Op::bit_not:
      return int_value(t, ~x.i);
    case Op::abs:
      return narrowed(t, wide(x) < 0 ? -wide(x) : wide(x));
    case Op::popcount:
      return int_value(t, std::popcount(to_bits(x)));
    case Op::clz:
      return int_value(t, std::countl_zero(to_bits(x)) - (64 - t.bits));
    case Op::ctz:
      return int_value(t, std::min<int>(std::countr_zero(to_bits(x)), t.bits));
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      return x;
    default:
      wrong_type(op, t);
  }
}

std::optional<Value> integer_binary(Op op, Type t, const Value& a, const Value& b) {
  const Wide x = wide(a), y = wide(b);
  switch (op) {
    case Op::add:
      return narrowed(t, x + y);
    case Op::sub:
      return narrowed(t, x - y);
    case Op::mul:
      if (t.is_unsigned())
        return int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(a.i) * static_cast<std::uint64_t>(b.i)));
      return narrowed(t, x * y);
    case Op::div:
      return narrowed(t, floor_div_wide(x, y));
    case Op::mod:
      return narrowed(t, y == 0 ? 0 : x - floor_div_wide(x, y) * y);
    case Op::trunc_div:
      return narrowed(t, y == 0 ? 0 : x / y);
    case Op::trunc_rem:
      return narrowed(t, y == 0 ? 0 : x % y);
    case Op::min:
      return x < y ? a : b;
    case Op::max:
      return x < y ? b : a;
    case Op::bit_and:
      return int_value(t, a.i & b.i);
    case Op::bit_or:
      return int_value(t, a.i | b.i);
    case Op::bit_xor:
      return int_value(t, a.i ^ b.i);
    case Op::shl:
    case Op::shr:
    case Op::rounding_shr:
      return integer_shift(op, t, a, b);
    default:
      wrong_type(op, t);
  }
}

Value bool_binary(Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::logic_and:
    case Op::bit_and:
    case Op::min:
    case Op::mul:
      return truth(a.i && b.i);
    case Op::logic_or:
    case Op::bit_or:
    case Op::max:
      return truth(a.i || b.i);
    case Op::bit_xor:
      return truth(a.i != b.i);
    default:
      wrong_type(op, bool_);
  }
}

template <class F>
F minimum(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class F>
F maximum(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

// Arithmetic in F: float for every type of at most 32 bits, whose result is then rounded to the type; double for f64.
template <class F>
F float_unary(Op op, Type t, F x) {
  switch (op) {
    case Op::neg:
      return -x;
    case Op::abs:
      return std::fabs(x);
    case Op::sqrt:
      return std::sqrt(x);
    case Op::floor:
      return std::floor(x);
    case Op::ceil:
      return std::ceil(x);
    case Op::round:
      return std::nearbyint(x);
    case Op::trunc:
      return std::trunc(x);
    default:
      wrong_type(op, t);
  }
}

template <class F>
F float_binary(Op op, Type t, F x, F y) {
  switch (op) {
    case Op::add:
      return x + y;
    case Op::sub:
      return x - y;
    case Op::mul:
      return x * y;
    case Op::div:
      return x / y;
    case Op::min:
      return minimum(x, y);
    case Op::max:
      return maximum(x, y);
    case Op::copysign:
      return std::copysign(x, y);
    default:
      wrong_type(op, t);
  }
}

Value rounded(Type t, float x) { return float_value(t, static_cast<double>(x)); }

std::optional<Value> comparison(Op op, const Value& a, const Value& b) {
  auto decide = [op](auto x, auto y) -> std::optional<Value> {
    switch (op) {
      case Op::eq:
        return truth(x == y);
      case Op::ne:
        return truth(x != y);
      case Op::lt:
        return truth(x < y);
      case Op::le:
        return truth(x <= y);
      case Op::gt:
        return truth(x > y);
      default:
        return truth(x >= y);
    }
  };
  if (a.type.is_float()) return decide(a.f, b.f);
  if (a.type.is_unsigned()) return decide(static_cast<std::uint64_t>(a.i), static_cast<std::uint64_t>(b.i));
  return decide(a.i, b.i);
}

// The integer nearest below (in the direction of the caller's rounding) already taken: clamps to the type; NaN gives 0.
std::int64_t clamped_integer(Type to, double x) {
  if (std::isnan(x)) return 0;
  const double limit = std::ldexp(1.0, to.is_unsigned() ? to.bits : (to.is_index() ? 63 : to.bits - 1));
  if (x >= limit) return highest_of(to);
  if (x < (to.is_unsigned() ? 0.0 : -limit)) return lowest_of(to);
  return to.is_unsigned() ? static_cast<std::int64_t>(static_cast<std::uint64_t>(x)) : static_cast<std::int64_t>(x);
}

double to_double(const Value& v) {
  if (v.type.is_float()) return v.f;
  return v.type.is_unsigned() ? static_cast<double>(static_cast<std::uint64_t>(v.i)) : static_cast<double>(v.i);
}

// Narrow floats are reached through f32: two roundings for f64 and wide integers, by definition.
double to_f32(const Value& v) {
  if (v.type.is_float()) return static_cast<double>(static_cast<float>(v.f));
  return static_cast<double>(v.type.is_unsigned() ? static_cast<float>(static_cast<std::uint64_t>(v.i))
                                                  : static_cast<float>(v.i));
}

}  // namespace

std::int64_t wrap_to(Type t, std::int64_t x) {
  if (t.is_bool()) return x != 0;
  if (t.bits >= 64) return x;
  const auto u = static_cast<std::uint64_t>(x) & low_mask(t.bits);
  const std::uint64_t sign = std::uint64_t{1} << (t.bits - 1);
  return static_cast<std::int64_t>(t.is_unsigned() ? u : (u ^ sign) - sign);
}

Value int_value(Type t, std::int64_t x) {
  Value v;
  v.type = t;
  v.i = wrap_to(t, x);
  return v;
}

Value float_value(Type t, double x) {
  Value v;
  v.type = t;
  v.f = round_to(t, x);
  return v;
}

Value value_of(const Expr& e) {
  const Node* n = e.node();
  if (n && n->op == Op::int_const) return int_value(n->type, n->i);
  if (n && n->op == Op::float_const) return float_value(n->type, n->f);
  throw InternalError("value_of: not a constant");
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(floor_div_wide(a, b)));
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<std::int64_t>(static_cast<Wide>(a) - floor_div_wide(a, b) * b);
}

std::int64_t lowest_of(Type t) {
  if (t.is_bool() || t.is_unsigned()) return 0;
  return t.bits >= 64 ? INT64_MIN : -(std::int64_t{1} << (t.bits - 1));
}

std::int64_t highest_of(Type t) {
  if (t.is_bool()) return 1;
  if (t.is_unsigned()) return static_cast<std::int64_t>(low_mask(t.bits));
  return t.bits >= 64 ? INT64_MAX : (std::int64_t{1} << (t.bits - 1)) - 1;
}

double highest_real(Type t) { return t.code == Type::Code::e4m3 ? 448 : std::numeric_limits<double>::infinity(); }

Value convert(Type to, const Value& v) {
  if (to == v.type) return v;
  if (to.is_bool()) return truth(v.type.is_float() ? v.f != 0 : v.i != 0);
  if (to.is_float()) {
    if (to.bits == 64) return float_value(to, to_double(v));
    return float_value(to, to_f32(v));
  }
  if (v.type.is_float()) {
    Value r;
    r.type = to;
    r.i = clamped_integer(to, std::trunc(v.f));
    return r;
  }
  return int_value(to, v.i);
}

Value saturate_to(Type to, const Value& v) {
  if (to.is_bool()) return convert(to, v);
  Value r;
  r.type = to;
  if (to.is_float()) {
    const Value c = convert(to, v);
    if (!v.type.is_float() && to.bits >= 32) return c;
    const double largest = to.bits == 64                   ? std::numeric_limits<double>::max()
                           : to.bits == 32                 ? static_cast<double>(std::numeric_limits<float>::max())
                           : to.code == Type::Code::bfloat ? 0x1.FEp127
                           : to.code == Type::Code::e4m3   ? 448.0
                           : to.code == Type::Code::e5m2   ? 57344.0
                                                           : 65504.0;
    const double x = to_double(v);
    if (std::isnan(x)) return c;
    return std::fabs(x) > largest || !std::isfinite(c.f) ? float_value(to, std::copysign(largest, x)) : c;
  }
  if (v.type.is_float()) {
    r.i = clamped_integer(to, std::nearbyint(v.f));
    return r;
  }
  return clamped(to, wide(v));
}

std::optional<Value> evaluate(Op op, Type result, std::span<const Value> args) {
  if (args.empty()) return std::nullopt;
  const Value& a = args[0];
  const Type t = a.type;
  switch (op) {
    case Op::load:
    case Op::ramp:
    case Op::broadcast:
    case Op::call:
      return std::nullopt;
    case Op::cast:
      return convert(result, a);
    case Op::saturate:
      return saturate_to(result, a);
    case Op::bitcast:
      return from_bits(result, to_bits(a));
    case Op::rare:
    case Op::in_range:
      return a;
    case Op::logic_not:
      return truth(!a.i);
    case Op::isnan:
      return truth(t.is_float() && std::isnan(a.f));
    case Op::isinf:
      return truth(t.is_float() && std::isinf(a.f));
    case Op::select:
      return a.i ? args[1] : args[2];
    case Op::fma:
      if (!t.is_float()) {
        const auto product = evaluate(Op::mul, result, args.first(2));
        if (!product) return product;
        const Value sum[2] = {*product, args[2]};
        return evaluate(Op::add, result, sum);
      }
      if (t.bits == 64) return float_value(t, std::fma(a.f, args[1].f, args[2].f));
      return rounded(t, std::fma(static_cast<float>(a.f), static_cast<float>(args[1].f), static_cast<float>(args[2].f)));
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      return comparison(op, a, args[1]);
    default:
      break;
  }
  if (is_expanded_math(op, t)) return evaluate_math(op, t, args);
  static const std::span<const Operation> rows = operations();
  if (const auto meaning = rows[static_cast<std::size_t>(op)].laws.meaning) return meaning(args);
  if (t.is_bool()) {
    if (op == Op::bit_not) return truth(!a.i);
    if (args.size() != 2) wrong_type(op, t);
    return bool_binary(op, a, args[1]);
  }
  if (t.is_float()) {
    if (t.bits == 64) return float_value(t, args.size() == 1 ? float_unary(op, t, a.f) : float_binary(op, t, a.f, args[1].f));
    const auto x = static_cast<float>(a.f);
    return rounded(t, args.size() == 1 ? float_unary(op, t, x) : float_binary(op, t, x, static_cast<float>(args[1].f)));
  }
  return args.size() == 1 ? integer_unary(op, t, a) : integer_binary(op, t, a, args[1]);
}

bool same_value(const Value& a, const Value& b) {
  if (a.type != b.type) return false;
  if (!a.type.is_float()) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  return std::bit_cast<std::uint64_t>(a.f) == std::bit_cast<std::uint64_t>(b.f);
}

std::string text(const Value& v) {
  if (v.type.is_bool()) return v.i ? "true" : "false";
  if (v.type.is_unsigned()) return std::to_string(static_cast<std::uint64_t>(v.i));
  if (!v.type.is_float()) return std::to_string(v.i);
  if (std::isnan(v.f)) return "nan";
  char buffer[40];
  const auto end = v.type.bits == 64 ? std::to_chars(buffer, buffer + sizeof buffer, v.f)
                                     : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v.f));
  return {buffer, end.ptr};
}

}  // namespace ashlar::ir
