// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the storage primitives share.
#include "schedule/edit.h"

namespace ashlar::schedule {

ir::Buffer& storage_of(Context&, const ir::Stage&, std::size_t component);  // refused for outputs: the caller owns those
void redirect_reads(ir::Stage& reader, Id from, const ir::Buffer& to);      // it reads another buffer instead
void require_scope(const Context&, const Scope&);                           // the target has it
void set_map(Context&, ir::Buffer&, const Arg& map);                        // proved injective, then set

}  // namespace ashlar::schedule
