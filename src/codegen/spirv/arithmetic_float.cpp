// Floating point: IEEE, no contraction but where fma is written. NaNs are told by their bits, which no driver optimises away.
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/arithmetic.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

using ir::Op;

Piece Arithmetic::bits_of(Piece x) { return op(spv::OpBitcast, (x.type.bits == 64 ? u64 : u32).with_lanes(x.type.lanes), {x}); }
Piece Arithmetic::float_of(Type t, Piece bits) { return op(spv::OpBitcast, t.with_lanes(bits.type.lanes), {bits}); }

Piece Arithmetic::exact(spv::Op o, Piece x, Piece y) {
  const Piece r = op(o, x.type, {x, y});
  m.decorate(r.id, spv::DecorationNoContraction);
  return r;
}

Piece Arithmetic::is_nan(Piece x) {
  const bool wide = x.type.bits == 64;
  const Piece bits = bits_of(x), magnitude = and_(bits, like(bits, wide ? INT64_MAX : INT32_MAX));
  return test(spv::OpUGreaterThan, magnitude, like(bits, wide ? 0x7FF0000000000000 : 0x7F800000));
}

Piece Arithmetic::float_unary(Op o, Piece x) {
  if (is_narrow_float(x.type)) return narrow(x.type, float_unary(o, widen(x)));
  switch (o) {
    case Op::neg:
      return op(spv::OpFNegate, x.type, {x});
    case Op::abs:
      return glsl(GLSLstd450FAbs, {x});
    case Op::sqrt:
      return glsl(GLSLstd450Sqrt, {x});
    case Op::floor:
      return glsl(GLSLstd450Floor, {x});
    case Op::ceil:
      return glsl(GLSLstd450Ceil, {x});
    case Op::round:
      return glsl(GLSLstd450RoundEven, {x});
    case Op::trunc:
      return glsl(GLSLstd450Trunc, {x});
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

Piece Arithmetic::float_binary(Op o, Piece x, Piece y) {
  if (is_narrow_float(x.type)) return narrow(x.type, float_binary(o, widen(x), widen(y)));
  switch (o) {
    case Op::add:
      return exact(spv::OpFAdd, x, y);
    case Op::sub:
      return exact(spv::OpFSub, x, y);
    case Op::mul:
      return exact(spv::OpFMul, x, y);
    case Op::div:
      return exact(spv::OpFDiv, x, y);
    case Op::min:
    case Op::max: {
      // Equal operands differ in the sign of zero alone: the sign of either for min, of both for max. A NaN in x stays x; with
      // a NaN in y no comparison holds, and y is left.
      const bool least = o == Op::min;
      const Piece xb = bits_of(x), yb = bits_of(y);
      const Piece merged = float_of(x.type, least ? or_(xb, yb) : and_(xb, yb));
      const Piece first = or_(test(least ? spv::OpFOrdLessThan : spv::OpFOrdGreaterThan, x, y), is_nan(x));
      return select(test(spv::OpFOrdEqual, x, y), merged, select(first, x, y));
    }
    case Op::copysign: {
      const Piece xb = bits_of(x), yb = bits_of(y);
      const std::int64_t sign = x.type.bits == 64 ? INT64_MIN : INT32_MIN;
      return float_of(x.type, or_(and_(xb, like(xb, ~sign)), and_(yb, like(yb, sign))));
    }
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

Piece Arithmetic::fma(Piece x, Piece y, Piece z) {
  const Type t = x.type;
  if (!t.is_float()) return add(mul(x, y), z);
  if (is_narrow_float(t)) return narrow(t, fma(widen(x), widen(y), widen(z)));
  (t.bits == 64 ? used_fma64 : used_fma32) = true;
  if (!native_fma_ && t.bits == 32) return fma_in_doubles(x, y, z);
  const Piece r = glsl(GLSLstd450Fma, {x, y, z});
  m.decorate(r.id, spv::DecorationNoContraction);
  return r;
}

// Where the device rounds Fma twice. The product of two f32 is exact in f64. Its sum with the third, rounded to odd there
// (truncated, and the last bit set when anything was lost), rounds to f32 as the exact sum does, because f64 has more than two
// bits to spare (S. Boldo, G. Melquiond: Emulation of FMA and correctly rounded sums, IEEE Trans. Computers 57, 2008). What the
// sum lost is the error term of Knuth's TwoSum, exact since no f32 operand can make an f64 overflow or underflow.
Piece Arithmetic::fma_in_doubles(Piece x, Piece y, Piece z) {
  const Type wide = f64.with_lanes(x.type.lanes);
  auto extended = [&](Piece v) { return op(spv::OpFConvert, wide, {v}); };
  const Piece p = exact(spv::OpFMul, extended(x), extended(y)), addend = extended(z);
  const Piece s = exact(spv::OpFAdd, p, addend);
  const Piece part = exact(spv::OpFSub, s, p);
  const Piece lost = exact(spv::OpFAdd, exact(spv::OpFSub, p, exact(spv::OpFSub, s, part)), exact(spv::OpFSub, addend, part));
  const Piece bits = bits_of(s), zero = like(bits, 0);
  const Piece inexact = test(spv::OpFOrdNotEqual, lost, real(wide, 0));  // false for the NaN that infinities leave
  const Piece even = test(spv::OpIEqual, and_(bits, like(bits, 1)), zero);
  // towards what was lost: away from zero when it has the sign of the sum
  const Piece same_sign = test(spv::OpSGreaterThanEqual, op(spv::OpBitwiseXor, bits.type, {bits, bits_of(lost)}), zero);
  const Piece odd = add(bits, select(same_sign, like(bits, 1), like(bits, -1)));
  const Piece chosen = select(and_(inexact, even), odd, bits);
  return op(spv::OpFConvert, x.type, {float_of(wide, chosen)});
}

}  // namespace ashlar::codegen::spirv
