// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators as instructions, with the corners that docs/ir.md gives them: quotients by zero, shifts by too much, conversions
// out of range. Where a constant rules a corner out, nothing is spent on it.
//
// Arguments of one call that write instructions are made before it, one after the other: C++ does not say in which order it
// evaluates them, and the bytes are to be the same everywhere. (Those in braces it does.)
#include <cmath>
#include <limits>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>

#include "codegen/tileir/code.h"

namespace ashlar::codegen::tileir {

namespace {

using ir::Op;
using Number = Code::Number;

// Writes operators for values of one type and shape.
struct Writer {
  Code& code;
  Type type;
  const Code::Extents& extents;

  std::uint64_t own() const { return code.types.tile(type, extents); }
  std::uint64_t flags() const { return code.types.tile(bool_, extents); }
  std::uint64_t sign() const { return type.is_signed(); }
  Writer of(Type t) const { return {code, t, extents}; }

  Number integer(std::int64_t n) const { return code.constant(ir::int_value(type, n), extents); }
  Number real(double x) const { return code.constant(ir::float_value(type, x), extents); }
  Number select(Number c, Number a, Number b) const { return code.emit(Opcode::select, own(), {c, a, b}); }
  Number both(Number a, Number b) const { return code.emit(Opcode::andi, flags(), {a, b}); }
  Number either(Number a, Number b) const { return code.emit(Opcode::ori, flags(), {a, b}); }
  // Of floats, one that is not equal may be NaN; all other comparisons of one are false.
  Number compare(Predicate p, Number a, Number b) const {
    if (type.is_float()) return code.emit(Opcode::cmpf, flags(), {p, p == not_equal ? 0u : 1u, a, b});
    return code.emit(Opcode::cmpi, flags(), {p, sign(), a, b});
  }
  Number plain(Opcode op, std::initializer_list<std::uint64_t> args) const { return code.emit(op, own(), args); }
  Number wrapping(Opcode op, Number a, Number b) const { return code.emit(op, own(), {0, a, b}); }
  Number rounded(Opcode op, Number a, Number b) const { return code.emit(op, own(), {0, nearest_even, a, b}); }

  // ---- integers
  Number negated(Number x) const {
    if (code.types.minor < 2) return plain(Opcode::negi, {x});
    return plain(Opcode::negi, {0, x});  // which wraps
  }
  // The quotient for a divisor that is not 0, nor -1 where that overflows; else as if it were 1. `zero`: where it is 0.
  struct Divided {
    Number quotient, divisor;
    std::optional<Number> zero;
  };
  Divided divide(Number x, Number y, Rounding rounding) const {
    Divided d{0, y, std::nullopt};
    const std::optional<ir::Value> known = code.known(y);
    if (!known || known->i == 0 || (type.is_signed() && known->i == -1)) {
      d.zero = compare(equal, y, integer(0));
      Number bad = *d.zero;
      if (type.is_signed()) {
        const Number minus_one = compare(equal, y, integer(-1)), least = compare(equal, x, integer(ir::lowest_of(type)));
        bad = either(bad, both(minus_one, least));
      }
      d.divisor = select(bad, integer(1), y);
    }
    d.quotient = code.emit(Opcode::divi, own(), {sign(), rounding, x, d.divisor});
    return d;
  }
  Number or_zero(const Divided& d, Number value) const { return d.zero ? select(*d.zero, integer(0), value) : value; }
  Number quotient(Number x, Number y, Rounding rounding) const {
    const Divided d = divide(x, y, rounding);
    return or_zero(d, d.quotient);
  }
  Number remainder(Number x, Number y, Rounding rounding) const {
    const Divided d = divide(x, y, rounding);
    return or_zero(d, wrapping(Opcode::subi, x, wrapping(Opcode::muli, d.quotient, d.divisor)));
  }
  Number shift(Op op, Number x, Number amount) const {
    const auto shifted = [&](Number by) {
      return op == Op::shl ? code.emit(Opcode::shli, own(), {0, x, by}) : code.emit(Opcode::shri, own(), {sign(), x, by});
    };
    const std::optional<ir::Value> known = code.known(amount);
    if (known && known->i >= 0 && known->i < type.bits) return shifted(amount);
    const Number inside = code.emit(Opcode::cmpi, flags(), {less, 0, amount, integer(type.bits)});
    if (op == Op::shr && type.is_signed()) return shifted(select(inside, amount, integer(type.bits - 1)));
    const Number none = integer(0), result = shifted(select(inside, amount, none));
    return select(inside, result, none);
  }

  // ---- floats
  Type bits() const { return type == f32 ? u32 : u64; }
  Number copysign(Number x, Number y) const {
    const Writer w = of(bits());
    const std::int64_t top = type == f32 ? std::int64_t{1} << 31 : INT64_MIN;
    const Number magnitude = w.plain(Opcode::andi, {w.plain(Opcode::bitcast, {x}), w.integer(~top)});
    const Number signs = w.plain(Opcode::andi, {w.plain(Opcode::bitcast, {y}), w.integer(top)});
    return plain(Opcode::bitcast, {w.plain(Opcode::ori, {magnitude, signs})});
  }
  // Where |x| is below 2^23 (2^52), adding that leaves no bits for a fraction, and ties go to even.
  Number round(Number x) const {
    const Number magnitude = plain(Opcode::absf, {x}), whole = real(type == f32 ? 0x1p23 : 0x1p52);
    const Number rounded_off = rounded(Opcode::subf, rounded(Opcode::addf, magnitude, whole), whole);
    return copysign(select(compare(less, magnitude, whole), rounded_off, magnitude), x);
  }
  Number trunc(Number x) const {
    const Number negative = compare(less, x, real(0)), up = plain(Opcode::ceil, {x}), down_to = plain(Opcode::floor, {x});
    return select(negative, up, down_to);
  }
};

// Toward zero, then clamped; NaN gives 0.
Number float_to_integer(const Writer& from, Type to, Number x) {
  if (ir::is_narrow(from.type)) {
    const Writer wide = from.of(f32);
    return float_to_integer(wide, to, wide.plain(Opcode::ftof, {nearest_even, x}));
  }
  const Writer w = from.of(to);
  const double high = std::ldexp(1.0, to.is_signed() ? to.bits - 1 : to.bits), low = to.is_signed() ? -high : 0;
  const Number most = from.real(high), least = from.real(low);
  const Number above = from.compare(greater_equal, x, most), below_most = from.compare(less, x, most);
  const Number from_least = from.compare(greater_equal, x, least), inside = from.both(from_least, below_most);
  const Number whole =
      w.code.emit(Opcode::ftoi, w.own(), {to.is_signed(), integer_to_zero, from.select(inside, x, from.real(0))});
  const Number clamped = w.select(above, w.integer(ir::highest_of(to)), whole);
  if (!to.is_signed()) return clamped;
  const Number below = from.compare(less, x, least), lowest = w.integer(ir::lowest_of(to));
  return w.select(below, lowest, clamped);
}

Number cast(const Writer& from, Type to, Number x) {
  const Writer w = from.of(to);
  const Type t = from.type;
  if (t == to) return x;
  if (to.is_bool() && t.is_float() && t.bits == 8)
    return cast(from.of(f32), to, cast(from, f32, x));  // which have no comparison
  if (to.is_bool()) return from.compare(not_equal, x, t.is_float() ? from.real(0) : from.integer(0));
  if (t.is_bool() && to.is_float()) {
    const Number one = w.real(1), zero = w.real(0);
    return w.select(x, one, zero);
  }
  if (t.is_bool()) return w.code.emit(Opcode::exti, w.own(), {0, x});
  if (t.is_float() && to.is_float()) {
    // the narrow floats are reached, and left, through f32
    if ((ir::is_narrow(to) && t != f32) || (ir::is_narrow(t) && to != f32)) return cast(from.of(f32), to, cast(from, f32, x));
    return w.code.emit(Opcode::ftof, w.own(), {nearest_even, x});
  }
  if (t.is_float()) return float_to_integer(from, to, x);
  if (to.is_float()) {
    if (ir::is_narrow(to)) return cast(from.of(f32), to, cast(from, f32, x));
    return w.code.emit(Opcode::itof, w.own(), {t.is_signed(), nearest_even, x});
  }
  if (to.bits == t.bits) return x;  // the format's integers have no sign
  if (to.bits > t.bits) return w.code.emit(Opcode::exti, w.own(), {t.is_signed(), x});
  return w.code.emit(Opcode::trunci, w.own(), {0, x});
}

Number of_float(const Writer& w, Op op, const std::vector<Number>& a) {
  switch (op) {
    case Op::add:
      return w.rounded(Opcode::addf, a[0], a[1]);
    case Op::sub:
      return w.rounded(Opcode::subf, a[0], a[1]);
    case Op::mul:
      return w.rounded(Opcode::mulf, a[0], a[1]);
    case Op::div:
      return w.rounded(Opcode::divf, a[0], a[1]);
    case Op::fma:
      return w.plain(Opcode::fma, {0, nearest_even, a[0], a[1], a[2]});
    case Op::sqrt:
      return w.plain(Opcode::sqrt, {0, nearest_even, a[0]});
    case Op::approximate_exp2:  // the flag: subnormal numbers become 0
      return w.plain(Opcode::exp2, {1, a[0]});
    case Op::min:  // the flag: a NaN is the result
      return w.plain(Opcode::minf, {1, a[0], a[1]});
    case Op::max:
      return w.plain(Opcode::maxf, {1, a[0], a[1]});
    case Op::neg:
      return w.plain(Opcode::negf, {a[0]});
    case Op::abs:
      return w.plain(Opcode::absf, {a[0]});
    case Op::floor:
      return w.plain(Opcode::floor, {a[0]});
    case Op::ceil:
      return w.plain(Opcode::ceil, {a[0]});
    case Op::round:
      return w.round(a[0]);
    case Op::trunc:
      return w.trunc(a[0]);
    case Op::copysign:
      return w.copysign(a[0], a[1]);
    case Op::isnan:
      return w.compare(not_equal, a[0], a[0]);
    case Op::isinf: {
      const Number magnitude = w.plain(Opcode::absf, {a[0]});
      return w.compare(equal, magnitude, w.real(std::numeric_limits<double>::infinity()));
    }
    default:
      throw InternalError(std::string("no instruction of CUDA Tile IR for floats: ") + ir::op_name(op));
  }
}

Number of_integer(const Writer& w, Op op, const std::vector<Number>& a) {
  switch (op) {
    case Op::add:
      return w.wrapping(Opcode::addi, a[0], a[1]);
    case Op::sub:
      return w.wrapping(Opcode::subi, a[0], a[1]);
    case Op::mul:
      return w.wrapping(Opcode::muli, a[0], a[1]);
    case Op::neg:
      return w.negated(a[0]);
    case Op::abs: {
      if (!w.type.is_signed()) return a[0];
      const Number negative = w.compare(less, a[0], w.integer(0)), negated = w.negated(a[0]);
      return w.select(negative, negated, a[0]);
    }
    case Op::min:
      return w.code.emit(Opcode::mini, w.own(), {w.sign(), a[0], a[1]});
    case Op::max:
      return w.code.emit(Opcode::maxi, w.own(), {w.sign(), a[0], a[1]});
    case Op::div:
      return w.quotient(a[0], a[1], w.type.is_signed() ? down : to_zero);
    case Op::mod:
      return w.remainder(a[0], a[1], w.type.is_signed() ? down : to_zero);
    case Op::trunc_div:
      return w.quotient(a[0], a[1], to_zero);
    case Op::trunc_rem:
      return w.remainder(a[0], a[1], to_zero);
    case Op::bit_and:
    case Op::logic_and:
      return w.plain(Opcode::andi, {a[0], a[1]});
    case Op::bit_or:
    case Op::logic_or:
      return w.plain(Opcode::ori, {a[0], a[1]});
    case Op::bit_xor:
      return w.plain(Opcode::xori, {a[0], a[1]});
    case Op::bit_not:
      return w.plain(Opcode::xori, {a[0], w.integer(-1)});
    case Op::logic_not:
      return w.plain(Opcode::xori, {a[0], w.integer(1)});
    case Op::shl:
    case Op::shr:
      return w.shift(op, a[0], a[1]);
    case Op::rare:
      return a[0];
    default:
      throw InternalError(std::string("no instruction of CUDA Tile IR for integers: ") + ir::op_name(op));
  }
}

std::optional<Predicate> predicate_of(Op op) {
  switch (op) {
    case Op::eq:
      return equal;
    case Op::ne:
      return not_equal;
    case Op::lt:
      return less;
    case Op::le:
      return less_equal;
    case Op::gt:
      return greater;
    case Op::ge:
      return greater_equal;
    default:
      return std::nullopt;
  }
}

}  // namespace

Number apply(Code& code, Op op, Type operand, Type result, const Code::Extents& extents, const std::vector<Number>& args) {
  const Writer w{code, operand, extents};
  if (op == Op::cast) return cast(w, result, args[0]);
  if (op == Op::bitcast) {
    if (operand.is_data_integer() && result.is_data_integer()) return args[0];
    return w.of(result).plain(Opcode::bitcast, {args[0]});
  }
  if (op == Op::select) return w.select(args[0], args[1], args[2]);
  if (const std::optional<Predicate> p = predicate_of(op)) return w.compare(*p, args[0], args[1]);
  return operand.is_float() ? of_float(w, op, args) : of_integer(w, op, args);
}

}  // namespace ashlar::codegen::tileir
