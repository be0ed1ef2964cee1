// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The nodes of programs by their own names, in all of the analysis.
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

using ir::AllocStmt;
using ir::BlockStmt;
using ir::Id;
using ir::LoopKind;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Op;
using ir::PrefetchStmt;
using ir::Program;
using ir::Stmt;

}  // namespace ashlar::analysis
