// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What handlers of memory share.
#include "tests/ptx/executor/device.h"

namespace ashlar::ptx {

constexpr u32 kStrong = 1u << 20;  // of flags: .volatile, .relaxed and stronger

u64 address_of(Warp&, const Instr&, const Operand& address, int lane);

}  // namespace ashlar::ptx
