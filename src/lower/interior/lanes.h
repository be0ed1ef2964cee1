// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Conditions of one lane or of several, and what an expression becomes when some of them are known in all lanes.
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::lowering {

Expr lanes_of(const Expr& condition, int lanes);  // the same in every lane, where it is of one
Expr zero(Type);
bool is_false(const Expr& condition);
bool is_true(const Expr& condition);
// A node one of whose conditions is known in all lanes.
Expr decided_lanes(const Expr&);

// Conditions that are known, each with its value.
using Decided = std::vector<std::pair<Expr, bool>>;
Expr decided(const Expr&, const Decided&);

}  // namespace ashlar::lowering
