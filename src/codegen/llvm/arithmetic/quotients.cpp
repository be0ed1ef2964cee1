// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and remainders by a constant in the lanes of an index vector, without dividing 64-bit lanes: no processor here
// multiplies those to 128 bits, so a division by a constant goes through the scalar unit lane by lane.
//
//   ramp(b, s) / d      with b = d * q + r, 0 <= r < d:    q + (r + s * lane) / d, whose last quotient is small
//   index(x) % d        of an x whose values fit 32 bits:  in 32 bits
//
// A lane's distance from the first one is a constant, so where it stays below d the small quotient is one comparison:
//
//   ramp16(i, 1) / 44 = i / 44 + (lane >= 44 - i % 44)
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <ashlar/analysis/simplify.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

namespace {

constexpr std::int64_t comparisons = 3;  // at most: a division of 32-bit lanes takes six instructions

}  // namespace

Value* Emitter::divide_ramp(const Expr& e, std::int64_t divisor) {
  const auto ramp = ir::args_of(ir::args_of(e)[0]);
  const Type t = e.type();
  std::int64_t stride = 0;
  if (divisor < 2 || !ir::is_int(ramp[1], &stride) || std::abs(stride) > std::numeric_limits<std::int16_t>::max())
    return nullptr;
  const std::int64_t last = stride * (t.lanes - 1), least = std::min<std::int64_t>(last, 0), most = std::abs(last);
  if (most + divisor > std::numeric_limits<std::int32_t>::max()) return nullptr;
  // of the smallest lane, which the others are 0 to `most` above
  Value* low = b.CreateAdd(emit(ramp[0]), math.integer(ir::index_type, least));
  Value* first = divided(Op::div, ir::index_type, low, divisor);
  Value* rest = b.CreateTrunc(b.CreateSub(low, b.CreateMul(first, math.integer(ir::index_type, divisor))), math.type(i32));
  const Type narrow = i32.with_lanes(t.lanes);
  std::vector<llvm::Constant*> lanes;
  for (int k = 0; k < t.lanes; ++k) lanes.push_back(math.integer(i32, stride * k - least));
  Value* above = llvm::ConstantVector::get(lanes);
  Value* sum = b.CreateAdd(b.CreateVectorSplat(math.count(t), rest), above);  // below most + divisor
  Value* quotient = nullptr;
  if ((most + divisor - 1) / divisor <= comparisons) {
    quotient = math.integer(narrow, 0);
    for (std::int64_t k = divisor; k < most + divisor; k += divisor)
      quotient = b.CreateAdd(quotient, b.CreateZExt(b.CreateICmpSGE(sum, math.integer(narrow, k)), math.type(narrow)));
  } else if (most + divisor <= std::numeric_limits<std::uint16_t>::max()) {
    const Type half = u16.with_lanes(t.lanes);
    quotient = b.CreateZExt(divided(Op::div, half, b.CreateTrunc(sum, math.type(half)), divisor), math.type(narrow));
  } else {
    quotient = divided(Op::trunc_div, narrow, sum, divisor);
  }
  if (ir::is(e, Op::mod))
    return b.CreateZExt(b.CreateSub(sum, b.CreateMul(quotient, math.integer(narrow, divisor))), math.type(t));
  return b.CreateAdd(b.CreateVectorSplat(math.count(t), first), b.CreateZExt(quotient, math.type(t)));
}

Value* Emitter::divide_lanes(const Expr& e, std::int64_t divisor) {
  const Type t = e.type();
  if (!t.is_index() || t.lanes == 1 || t.scalable || divisor <= 0 || (divisor & (divisor - 1)) == 0) return nullptr;
  const Expr& of = ir::args_of(e)[0];
  const bool floors = ir::is(e, Op::div) || ir::is(e, Op::mod);
  if (floors && ir::is(of, Op::ramp))
    if (Value* v = divide_ramp(e, divisor)) return v;
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min(), high = std::numeric_limits<std::int32_t>::max();
  const auto least = analysis::constant_min(of, {}), most = analysis::constant_max(of, {});
  if (!least || !most || *least < low || *most > high || divisor > high) return nullptr;
  const Type narrow = i32.with_lanes(t.lanes);
  return b.CreateSExt(divided(ir::op_of(e), narrow, b.CreateTrunc(emit(of), math.type(narrow)), divisor), math.type(t));
}

}  // namespace ashlar::codegen
