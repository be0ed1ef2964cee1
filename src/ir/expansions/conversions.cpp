// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions: of the narrow floats from and to f32, in integers, and those that clamp.
#include <cmath>

#include <ashlar/ir/numeric.h>

#include "ir/expansions/expansions.h"
#include "ir/expansions/format.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {
namespace {

constexpr std::int64_t f32_infinity = 0x7F800000;  // the bits of an f32

// To f32, exactly. The bits moved into place are the value times 2^(bias - 127), subnormal numbers included. If operations may
// take those for zero, a number that is subnormal in its own type is converted as a small integer and scaled.
Term widened(const Term& x, bool subnormals) {
  const Type t = x.type();
  const Format f = format_of(t);
  const Term bits = x.bits_as(without_sign(t)).as(u32);
  if (t.code == Type::Code::bfloat) return (bits << 16).bits_as(f32);
  const Term magnitude = bits & ((std::int64_t{1} << (t.bits - 1)) - 1), placed = magnitude << (23 - f.mantissa);
  const auto scaled = [&] {
    if (subnormals) {
      const Term small = placed.bits_as(f32);
      return (small * small.real(small.type(), std::ldexp(1.0, 127 - f.bias))).bits_as(u32);
    }
    const Term small = magnitude.as(f32), unit = small.real(small.type(), std::ldexp(1.0, 1 - f.bias - f.mantissa));
    const Term normal = placed + (static_cast<std::int64_t>(127 - f.bias) << 23);
    return select(magnitude < (std::int64_t{1} << f.mantissa), (small * unit).bits_as(u32), normal);
  };
  const Term special = t.code == Type::Code::e4m3 ? magnitude == f.nan : test(Op::ge, magnitude, magnitude.number(f.top));
  const Term finite = select(special, placed | placed.number(f32_infinity), scaled());
  return (finite | ((bits >> (t.bits - 1)) << 31)).bits_as(f32);
}

// From f32, to nearest even.
Term narrowed(const Term& x, Type to) {
  const Format f = format_of(to);
  const int shift = 23 - f.mantissa;
  const Term bits = x.bits_as(u32), magnitude = bits & INT32_MAX;
  const Term sign = (bits >> 31) << (to.bits - 1);
  // Normal results: half a unit less one, plus the last bit kept, carries exactly when nearest even rounds up.
  const Term carried = magnitude + ((std::int64_t{1} << (shift - 1)) - 1) + ((magnitude >> shift) & 1);
  const Term rebiased = carried - (static_cast<std::int64_t>(127 - f.bias) << 23);
  Term result = min(rebiased >> shift, rebiased.number(f.top));
  if (f.bias != 127) {  // bf16 has the exponents of f32: its subnormals round as its normals do
    // Subnormal results: added to a power of two whose last place is theirs, the sum's low bits are the result.
    const Term small = magnitude.bits_as(f32), magic = small.real(small.type(), std::ldexp(1.0, 1 - f.bias - f.mantissa + 23));
    const Term low = (small + magic).bits_as(u32) - magic.bits_as(u32);
    result = select(magnitude < (static_cast<std::int64_t>(128 - f.bias) << 23), low, result);
  }
  result = select(magnitude > f32_infinity, result.number(f.nan), result);
  return (sign | result).as(without_sign(to)).bits_as(to);
}

}  // namespace

Expr cast(const Applied& a) {
  const Term x = first(a);
  const Type from = x.type().element(), to = a.type.element();
  if (from == to) return {};
  const Expr& one = is(x.e, Op::broadcast) ? args_of(x.e)[0] : x.e;
  if (to.is_float() && is(one, Op::float_const)) return x.real(a.type, convert(to, value_of(one)).f).e;
  if (is_narrow(from)) return to == f32 ? widened(x, a.subnormals).e : x.as(f32).as(to).e;
  if (is_narrow(to)) return from == f32 ? narrowed(x, to).e : x.as(f32).as(to).e;
  return {};
}

// What would overflow, and infinity, is the largest finite number of that sign; NaN stays.
Expr saturate(const Applied& a) {
  const Term x = first(a);
  const Type from = x.type().element(), to = a.type.element();
  const auto again = [&](Type through) { return x.as(through).with(Op::saturate, a.type).e; };
  if (from == to && !to.is_float()) return x.e;
  if (to.is_bool() || from.is_bool()) return x.as(to).e;
  if (is_narrow(from)) return again(f32);
  if (from.is_packed()) return again(from.is_signed() ? i8 : u8);
  if (to.is_float()) {
    if (!from.is_float() && to.bits >= 32) return x.as(to).e;
    const Term v = x.as(to.bits == 64 || (from.is_float() && from.bits == 64) ? f64 : f32);
    const Term most = v.real(v.type(), largest_of(to));
    return select(v.with(Op::abs, v.type()) > most, signed_as(most, v), v).as(to).e;
  }
  if (from.is_float()) return x.with(Op::round, x.type()).as(to).e;
  // Integers: clamped in the source's type by those limits that it can exceed.
  const bool natural = from.is_unsigned();
  const bool beyond = natural ? static_cast<std::uint64_t>(highest_of(to)) < static_cast<std::uint64_t>(highest_of(from))
                              : !(to.is_unsigned() && to.bits >= 64) && highest_of(to) < highest_of(from);
  Term v = x;
  if (!natural && lowest_of(to) > lowest_of(from)) v = max(v, v.number(lowest_of(to)));
  if (beyond) v = min(v, v.number(highest_of(to)));
  return v.as(to).e;
}

}  // namespace ashlar::ir::expansion
