// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scopes of limited size: what lies in one fits in it.
#include <ashlar/ir/program.h>

namespace ashlar::schedule {

// A temporary in a scope of limited size has a constant size within it, or this is refused; all others pass.
void require_capacity(const ir::Program&, const ir::Buffer&);

}  // namespace ashlar::schedule
