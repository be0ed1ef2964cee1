// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scopes of limited size: buffers in such a scope must fit.
#include <ashlar/ir/program.h>

namespace ashlar::schedule {

// Refuses a temporary in a scope of limited size unless its size is constant and fits. Accepts all other buffers.
void require_capacity(const ir::Program&, const ir::Buffer&);

}  // namespace ashlar::schedule
