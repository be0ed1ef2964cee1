// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Advanced Matrix Extensions of x86-64: products of tiles of 16 rows of 64 bytes, for tensorize.
//
//   acc.tensorize(i, amx::tdpbusd());       // for i in 16, for j in 16, for q in 16, for k in 4: acc[i, j] += A[i, q, k] *
//   B[q, j, k]
//
// a is rows of 64 bytes; b is packed as vpdpbusd wants it, so many neighbours of a column beside each other. Tiles lie in
// memory, rows as far apart as they are; each call loads its three and stores c. Linux asks a process to request the registers
// before it runs such code: the runtime does at the first call, but for f_run of a library for one target, before which
// ashlar_cpu_missing does (runtime/cpu.h).
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::amx {

// c[i, j] += sum over q in 16, k in 4 of i32(a[i, q, k]) * i32(b[q, j, k]): c i32[16, 16], a [16, 16, 4], b [16, 16, 4].
// tdpbusd: a u8, b i8; the letters are unsigned and signed. Need amx-int8.
Intrinsic tdpbusd(Where = Where::current());
Intrinsic tdpbssd(Where = Where::current());
Intrinsic tdpbsud(Where = Where::current());
Intrinsic tdpbuud(Where = Where::current());

// tdpbf16ps sums the even and the odd products apart and takes subnormal numbers for 0: the interpreter's bits where all sums
// are exact, and other last places elsewhere. c f32[16, 16], a bf16[16, 16, 2], b bf16[16, 16, 2]. Needs amx-bf16.
enum class Rounding { of_machine };
Intrinsic tdpbf16ps(Rounding, Where = Where::current());

}  // namespace ashlar::amx
