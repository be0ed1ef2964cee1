// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions of shaders (SPIR-V for Vulkan) that compute with several neighbours at once, for tensorize.
//
//   sums.tensorize(lane, shader::dot4(i8, i8));      // for lane in 4, for k in 4: sums[lane] += i32(a[k]) * i32(b[lane, k])
//
// Tiles lie in the registers of a thread (Scope::registers), at constant distances. Each instruction computes what its
// description says, to the bit.
//
// A text for Backend::spirv is one line, {c.result} = INSTRUCTION {a.value} {b.value} {c.value}, for each lane of c: OpSDot,
// OpUDot or OpSUDot of four bytes of a and of b, plus c.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::shader {

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[4] or u32[4], a [4], b [4, 4], each i8 or u8. Needs dot8. Devices
// without an instruction for u8 by i8 or i8 by u8 compute it by several.
Intrinsic dot4(Type a, Type b, Type c = i32, Where = Where::current());

}  // namespace ashlar::shader
