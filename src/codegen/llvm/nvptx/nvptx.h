// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the files of the CUDA back end share.
#include <cstdint>
#include <string>
#include <string_view>

#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace llvm {
class Module;
}

namespace ashlar::codegen {

// Refused unless the target's chip is `needs` ("sm_90a": that one; "sm_90": or a later one); `what` is named.
void require_chip(const Target&, std::string_view needs, const std::string& what, Where);

// The registers of a thread when the launch starts; 0 where the assembler chooses. A kernel that moves registers between its
// warpgroups starts with as many as its block can have.
std::int64_t starting_registers(const ir::KLaunch&, const Target&);

// Minima, maxima and saturating sums of fewer than 32 bits become ones of 32 (widen.cpp says why).
void widen_minima(llvm::Module&);

}  // namespace ashlar::codegen
