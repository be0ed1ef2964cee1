// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Registers of which nobody wrote some bits: what LLVM makes of vectors of bytes of which not all lanes are used, for example.
// Where all bits of a register are written, which is nearly always, none of this is looked at.
#include "tests/ptx/executor/warp.h"

namespace ashlar::ptx {

// The bits of a source that nobody wrote.
u64 unknown_of(const Warp&, const Operand&, int lane);
// Of a result, in lanes of the mask: 0 makes it known.
void set_unknown(Warp&, const Operand& result, u32 mask, const std::array<u64, 32>& bits);

// For Instr::unknown: the bits of the result that depend on bits that nobody wrote. a: values of the sources; u: their unknown
// bits.
namespace unknown {
u64 all(const Instr&, const u64* a, const u64* u);
u64 logic(const Instr&, const u64* a, const u64* u);   // mode 0 and, 1 or, 2 xor
u64 same(const Instr&, const u64* a, const u64* u);    // each bit of the result is that of the source
u64 upward(const Instr&, const u64* a, const u64* u);  // a sum: from the lowest unknown bit on
u64 shift_left(const Instr&, const u64* a, const u64* u);
u64 shift_right(const Instr&, const u64* a, const u64* u);
u64 extract(const Instr&, const u64* a, const u64* u);
u64 insert(const Instr&, const u64* a, const u64* u);
u64 permute(const Instr&, const u64* a, const u64* u);
u64 convert(const Instr&, const u64* a, const u64* u);  // of integers
u64 sign(const Instr&, const u64* a, const u64* u);     // copysign
u64 halves(const Instr&, const u64* a, const u64* u);   // of packed numbers: each half is of the same half of the sources
u64 packed(const Instr&, const u64* a, const u64* u);   // of two sources: the upper half and the lower
}  // namespace unknown

}  // namespace ashlar::ptx
