// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Shader instructions (SPIR-V for Vulkan) that compute with several neighbors at once, for tensorize.
//
//   sums.tensorize(lane, shader::dot4(i8, i8));      // for lane in 4, for k in 4: sums[lane] += i32(a[k]) * i32(b[lane, k])
//
// Tiles lie in the registers of a thread (Scope::registers), at constant distances. dot4 gives exactly the bits that its
// description gives; fma4 rounds as the device does.
//
// A text for Backend::spirv is one line, {c.result} = INSTRUCTION {a.value} {b.value} {c.value}: OpSDot, OpUDot or OpSUDot of
// four bytes of a and of b, plus c, for each lane of c; or Fma of floats of one type, for all lanes of c at once, where a or b
// may have one element for all lanes.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::shader {

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[4] or u32[4], a [4], b [4, 4], each i8 or u8. Needs dot8. Devices
// without an instruction for u8 by i8 or i8 by u8 use several.
Intrinsic dot4(Type a, Type b, Type c = i32, Where = Where::current());

// c[i] += a[k] * b[k, i] of f16: c [4], a [1], b [1, 4]. The description rounds the product, then the sum. A device with an f16
// fma, such as AMD's v_pk_fma_f16, rounds once; Vulkan leaves the choice to the device. So results may differ in the last
// places and between devices. Small whole numbers are exact. Needs float16.
enum class Rounding { of_machine };
Intrinsic fma4(Rounding, Where = Where::current());

}  // namespace ashlar::shader
