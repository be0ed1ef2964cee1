// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Opcodes that several types share: floats.cpp reads the type and hands what is not an f32 or f64 to these.
#include "tests/ptx/executor/decode.h"

namespace ashlar::ptx {

bool integer_carry(Decode&, bool sub);  // true: it was .cc
void integer_sum(Decode&, bool sub);
void integer_product(Decode&);
void integer_extreme(Decode&, bool max);
void integer_sign(Decode&, bool negate);
void integer_division(Decode&, bool remainder);

enum class Half : u8 { kAdd, kSub, kMul, kFma, kMin, kMax, kNeg, kAbs, kEx2, kTanh };
void half(Decode&, Half);  // of f16, f16x2, bf16, bf16x2; modifiers that floats.cpp has read are in flags

enum FloatFlags : u32 { kFtz = 1, kSat = 2, kNan = 4, kXorSign = 8, kRelu = 16, kAbsolute = 32, kOutOfBounds = 64 };

}  // namespace ashlar::ptx
