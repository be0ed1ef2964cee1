// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roots of f32, rounded to nearest. Vulkan asks of a device only some units in the last place, and NVIDIA's takes subnormal
// numbers for zero. So its root is a first guess, which integers correct:
//
//   x = M 2^(2h-46), M from 2^46 to below 2^48;   s = guess of sqrt(M);   r = M - s^2
//   s is nearest where -s < r <= s;               one unit up takes 2s + 1 from r
//
// M and s^2 have 48 bits, r fits in 32 as long as the guess is within 60 units: the low words are enough.
#include "codegen/spirv/arithmetic.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

Piece Arithmetic::root(Piece x) {
  const int lanes = x.type.lanes;
  const Type word = u32.with_lanes(lanes), number = i32.with_lanes(lanes);
  const auto n = [&](std::int64_t v) { return integer(word, v); };
  const auto shr = [&](Piece v, int by) { return op(spv::OpShiftRightLogical, word, {v, n(by)}); };
  const auto shl = [&](Piece v, Piece by) { return op(spv::OpShiftLeftLogical, word, {v, by}); };
  const Piece given = bits_of(x), magnitude = and_(given, n(0x7FFFFFFF));
  const Piece subnormal = test(spv::OpULessThan, magnitude, n(0x00800000));
  // 2^150 x, a number of at most 24 bits
  const Piece scaled = bits_of(op(spv::OpConvertUToF, x.type, {shl(magnitude, n(1))}));
  const Piece bits = select(subnormal, scaled, magnitude);
  const Piece exponent = sub(shr(bits, 23), select(subnormal, n(127 + 150), n(127)));
  const Piece odd = and_(exponent, n(1));
  const Piece significand = or_(and_(bits, n(0x007FFFFF)), n(0x00800000));
  const Piece half = op(spv::OpShiftRightArithmetic, word, {exponent, n(1)});
  // in [1, 4), and its root in [1, 2]
  const Piece in = float_of(x.type, or_(and_(bits, n(0x007FFFFF)), shl(add(odd, n(127)), n(23))));
  const Piece guess = sub(bits_of(glsl(GLSLstd450Sqrt, {in})), n(0x3F800000 - 0x00800000));
  const auto rest = [&](Piece s) { return as(i32, sub(shl(significand, add(odd, n(23))), mul(s, s))); };
  const auto real_of = [&](Piece v) { return op(spv::OpConvertSToF, x.type, {v}); };
  const Piece units = exact(spv::OpFDiv, real_of(rest(guess)), real_of(add(guess, guess)));
  const Piece near = add(guess, as(u32, op(spv::OpConvertFToS, number, {glsl(GLSLstd450RoundEven, {units})})));
  const Piece r = rest(near);
  const Piece more = test(spv::OpSGreaterThan, r, as(i32, near));
  const Piece less = test(spv::OpSLessThanEqual, r, as(i32, sub(n(0), near)));
  const Piece s = select(more, add(near, n(1)), select(less, sub(near, n(1)), near));
  const Piece found = add(shl(add(half, n(126)), n(23)), s);
  // 0 and -0 are their own roots, so are infinity and NaN; what else has a sign has none
  const Piece zero = test(spv::OpIEqual, magnitude, n(0)), special = test(spv::OpUGreaterThanEqual, magnitude, n(0x7F800000));
  const Piece below = and_(test(spv::OpINotEqual, shr(given, 31), n(0)), test(spv::OpINotEqual, magnitude, n(0)));
  return float_of(x.type, select(below, n(0x7FC00000), select(or_(zero, special), given, found)));
}

}  // namespace ashlar::codegen::spirv
