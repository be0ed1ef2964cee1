// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// mbarriers and the copies that complete on them.
#include "tests/ptx/executor/access.h"
#include "tests/ptx/executor/decode.h"

namespace ashlar::ptx {

void decode_bulk(Decode&);  // cp.async.bulk...
void mbarrier_arrive(Warp&, const Instr&, int lane, const Place&, u32 count, i64 expected_bytes);
void mbarrier_expect_arrival(Warp&, const Instr&, int lane, const Place&);    // one more arrival in this phase
void mbarrier_bytes(Warp&, const Instr&, int lane, const Place&, i64 bytes);  // that have come

void bulk_arrivals(Cluster&);       // what was copied comes now
void finish_bulk(Warp&, u32 mask);  // of lanes that end
// What bulk copies and wgmma read of shared memory must have been written by a copy, or be followed by fence.proxy.async of its
// thread.
void async_reads(Warp&, const Instr&, int lane, const Place&, u32 bytes);

}  // namespace ashlar::ptx
