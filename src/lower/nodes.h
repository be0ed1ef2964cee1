// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The nodes of programs and kernels by their own names, in all passes of lowering.
#include <ashlar/analysis/facts.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>

namespace ashlar::lowering {

using analysis::Facts;
using ir::BlockStmt;
using ir::Id;
using ir::KFor;
using ir::KIf;
using ir::KLet;
using ir::KStmt;
using ir::KStore;
using ir::LoopKind;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Op;
using ir::Program;
using ir::Stmt;

}  // namespace ashlar::lowering
