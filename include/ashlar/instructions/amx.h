// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Advanced Matrix Extensions of x86-64, for tensorize: multiplication of tiles of 16 rows of 64 bytes.
//
//   acc.tensorize(i, amx::tdpbusd());       // for i, j, q in 16, for k in 4: acc[i, j] += A[i, q, k] * B[q, j, k]
//
// a has rows of 64 bytes; b is packed as for vpdpbusd, with four neighbors of a column side by side (two for bf16). Tiles lie
// in memory, with any distance between rows. Each call loads its three tiles and stores c. On Linux a process must request the
// tile registers before it runs such code. The runtime does so at the first call. Only if you call f_run of a library for one
// target must you call ashlar_cpu_missing first (runtime/cpu.h).
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::amx {

// c[i, j] += sum over q in 16, k in 4 of i32(a[i, q, k]) * i32(b[q, j, k]): c i32[16, 16], a [16, 16, 4], b [16, 16, 4].
// In tdpbusd a is u8 and b is i8; the letters stand for unsigned and signed. Need amx-int8.
Intrinsic tdpbusd(Where = Where::current());
Intrinsic tdpbssd(Where = Where::current());
Intrinsic tdpbsud(Where = Where::current());
Intrinsic tdpbuud(Where = Where::current());

// tdpbf16ps sums the even and the odd products separately and treats subnormal numbers as 0. It matches the interpreter bit for
// bit if all sums are exact; otherwise the last places may differ. c f32[16, 16], a bf16[16, 16, 2], b bf16[16, 16, 2]. Needs
// amx-bf16.
enum class Rounding { of_machine };
Intrinsic tdpbf16ps(Rounding, Where = Where::current());

}  // namespace ashlar::amx
