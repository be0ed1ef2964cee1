// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Text of expressions, programs and kernels, for people, goldens and messages. The same program prints the same text on
// every machine: names are made unique by order of appearance, ids are never printed, but for those of loops and nests by
// text_with_facts.
#include <string>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/text.h>
#include <ashlar/ir/program.h>

namespace ashlar::ir {

std::string text(const Program&);  // the loop tree, two spaces an indent
std::string text(const Kernel&);
std::string text_with_facts(const Kernel&);  // with what lowering knows (ir/lowering.h): of a kernel between two passes
std::string text(const Intrinsic&);          // of a user's: "npu_load: dst[r, c] = src[r, c] for r in rows, c in 16"
std::string meaning(const Intrinsic&);       // the same with all that it says: operands, texts, needs

}  // namespace ashlar::ir
