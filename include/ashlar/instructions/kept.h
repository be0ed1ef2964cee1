// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The store of intrinsics behind their handles. It keeps each until the process ends, so that a replayed schedule finds the one
// that it names, by its name and a digest of the complete description.
#include <string>

#include <ashlar/ir/device.h>
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::schedule {

const char* name_of(Backend);  // "llvm"

std::string digest_of(const ir::Intrinsic&);
const ir::Intrinsic* keep_intrinsic(ir::Intrinsic);
// Null if this process has not described it.
const ir::Intrinsic* find_intrinsic(const std::string& name, const std::string& digest);

}  // namespace ashlar::schedule
