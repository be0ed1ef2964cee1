// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The call that put a buffer into its scope. Refusals about storage name it, because that is what the user typed.
//
//   s[C].store_in(Scope::registers)           "store_in"
//   s.cache_write(C, Scope::registers)        "cache_write"
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

const char* scope_call(const ir::Program&, const ir::Buffer&);

}  // namespace ashlar::analysis
