// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions that lanes of a warp execute together.
#include "tests/ptx/executor/access.h"
#include "tests/ptx/executor/decode.h"

namespace ashlar::ptx {

// Those lanes of whose masks all that have not ended are here. The others stall until more come.
u32 together(Warp&, const Instr&, u32 mask, const u64* members);
// For .aligned: all lanes of the warp, or 0, and all stall.
u32 whole_warp(Warp&, const Instr&, u32 mask);
void decode_cluster_barrier(Decode&);

}  // namespace ashlar::ptx
