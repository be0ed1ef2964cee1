// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The functions of a file around its body: what they check and compute is what an object of LLVM's back end does
// (docs/codegen.md).
#include <ashlar/ir/kernel.h>

#include "codegen/c/function.h"

namespace ashlar::codegen::c {

bool has_workspace(const ir::Kernel&);
void bind_arguments(Function&, const std::vector<Expr>& used);  // of `args`: the variables that the expressions use
void write_fail(File&);                                         // static int f_fail(...)
void write_body(File&);                                         // static int f_body(args, context): everything is checked
// size_t f_workspace_bytes(args, context). And, in `f`, the lines that set `shared`, `each`, `total` and `overflow`.
void write_workspace_bytes(File&);
void workspace_sizes(Function& f);
void write_run(File&);             // int f_run(args, context)
void write_tensor_entries(File&);  // the descriptor, f and f_with

}  // namespace ashlar::codegen::c
