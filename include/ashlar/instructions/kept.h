// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The registry of intrinsics behind their handles. It keeps each one until the process ends. A replayed schedule finds an
// intrinsic by its name and a digest of the complete description.
#include <string>

#include <ashlar/ir/device.h>
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::schedule {

const char* name_of(Backend);  // "llvm"

std::string digest_of(const ir::Intrinsic&);
const ir::Intrinsic* keep_intrinsic(ir::Intrinsic);
// Null if this process has not described such an intrinsic.
const ir::Intrinsic* find_intrinsic(const std::string& name, const std::string& digest);

}  // namespace ashlar::schedule
