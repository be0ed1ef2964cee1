// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Memory of expression nodes. A scheduler makes and drops millions of small ones: those with few operands are kept by the
// thread that dropped them, for its next node of that size. Under the address sanitizer each goes back at once, so that a use
// after the end shows.
#include <cstdint>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

void* take_node_memory(std::uint32_t operands);
void give_node_memory(const Node*);

}  // namespace ashlar::ir
