// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <vector>

#include "lower/nodes.h"

namespace ashlar::lowering {

// What is left of the first to the second side of a comparison of indices: positive where it holds. Empty of anything else.
Expr margin(const Expr& condition);

// Adds the conditions of a conjunction, or e itself.
void add_conjuncts(const Expr& e, std::vector<Expr>& all);

}  // namespace ashlar::lowering
