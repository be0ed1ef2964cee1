// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Text of types and expressions, for messages. For programs and kernels, see ir/print.h.
#include <string>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

std::string text(Type);         // "f32", "u8x16", "index"
std::string text(const Expr&);  // infix, minimal parentheses: "min(i * 32 + 4, M)"; loads as name[i, j]

}  // namespace ashlar::ir
