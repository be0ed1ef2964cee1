// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Intrinsics behind their handles: each that was described is kept for as long as the process lives, so that a schedule that is
// replayed finds the one it means, by its name and a digest of all that it says.
#include <string>

#include <ashlar/ir/device.h>
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::schedule {

const char* name_of(Backend);  // "llvm"

std::string digest_of(const ir::Intrinsic&);
const ir::Intrinsic* keep_intrinsic(ir::Intrinsic);
const ir::Intrinsic* find_intrinsic(const std::string& name, const std::string& digest);  // null: this process described none

}  // namespace ashlar::schedule
