// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Text of expressions, programs and kernels, for people, goldens and messages. The same program prints the same text on every
// machine: names are made unique by order of appearance, and ids are never printed, except those of loops and nests by
// text_with_facts.
#include <string>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/text.h>
#include <ashlar/ir/program.h>

namespace ashlar::ir {

std::string text(const Program&);  // the loop tree, two spaces an indent
std::string text(const Kernel&);
std::string text_with_facts(const Kernel&);  // with the facts of lowering (ir/lowering.h), for a kernel between two passes
std::string text(const Intrinsic&);          // a user's: "npu_load: dst[r, c] = src[r, c] for r in rows, c in 16"
std::string meaning(const Intrinsic&);       // the same with everything else: operands, texts, needs

}  // namespace ashlar::ir
