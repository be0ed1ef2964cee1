// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The typing of expressions, shared by both verifiers.
#include <string>

#include <ashlar/ir/build.h>

namespace ashlar::analysis {

// What is wrong with the operator of this node alone, given its operands' types; empty if nothing is. Loads and variables are
// the caller's: it knows what they refer to.
std::string wrong_types(const Expr&);

}  // namespace ashlar::analysis
