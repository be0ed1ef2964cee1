// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The passes of lowering, one file each; lower.h lists them in order, lower.cpp runs them.
#include <string>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/ir/function_ref.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/lower/lower.h>

#include "lower/nodes.h"

namespace ashlar::lowering {

using ir::has_load;

// Between `flatten` and the end a kernel is a draft: some loops are still vectorized, unrolled or bound, and buffers, loops and
// stores carry what lowering knows of them (ir/lowering.h).
void take_parts(ir::Program&);                                        // reductions over threads: begin, update, combine
ir::Kernel flatten(ir::Program, const LowerOptions&, bool launches);  // the program has explicit inits
void make_launches(ir::Kernel&, const LowerOptions&);
void pipeline(ir::Kernel&, const LowerOptions&);
void synchronize(ir::Kernel&);
void skip_idle_blocks(ir::Kernel&);
void specialize_interior(ir::Kernel&, const LowerOptions&);
void hoist_guards(ir::Kernel&);
void merge_loops(ir::Kernel&);
void choose_remainders(ir::Kernel&);
void runs(analysis::Facts&, const ir::KFor&);  // what holds in an iteration of it
void specialize_whole_tiles(ir::Kernel&);
void choose_remainders(std::vector<ir::KStmt>&, const analysis::Facts&);  // of statements, in whose place the facts hold
void know_strides(ir::Kernel&);
void convert_once(ir::Kernel&);
void expand_functions(ir::Kernel&);
void vectorize(ir::Kernel&);
void unroll_tables(ir::Kernel&);  // unroll.cpp: before `interior`, loops that pick indices from constants
void unroll(ir::Kernel&);
void fold_constants(ir::Kernel&);
void tidy(ir::Kernel&);
void store_spare_lanes(ir::Kernel&);
void check_registers(const ir::Kernel&, const LowerOptions&);
void count_remainders(ir::Kernel&);
void take_first_steps(ir::Kernel&);
void carry(ir::Kernel&, const LowerOptions&);
void scan_in_lanes(ir::Kernel&, const LowerOptions&);
void drop_unread(ir::Kernel&);
void forget_facts(ir::Kernel&);  // what lowering knew: the kernel is finished
// Of a program with variants: its kernel and theirs, lowered apart, as one.
ir::Kernel one_of(const ir::Program&, ir::Kernel general, std::vector<ir::Kernel> variants);

// Two kernels of one program as one: the first where the condition holds.
ir::Kernel either(const Expr& condition, ir::Kernel, ir::Kernel otherwise, Where);

// Of a program that copies asynchronously, or accesses vectors, where its rows are aligned (any_alignment): what it is there,
// under which condition, and what it is otherwise.
struct ByAlignment {
  ir::Program aligned, otherwise;
  Expr condition;  // over symbols, strides and `alignments`; true: always
  std::vector<ir::AlignmentArg> alignments;
  Where where = {};
};
std::optional<ByAlignment> by_alignment(const ir::Program&);

// ---- small helpers over statements -------------------------------------------------------------------------------------
ir::KStmt store_stmt(ir::Id buffer, Expr address, Expr value, Where);
ir::KStmt if_stmt(Expr condition, std::vector<ir::KStmt> body, Where);
ir::KStmt let_stmt(ir::Id var, std::string name, Expr value, std::vector<ir::KStmt> body, Where);
ir::KStmt for_stmt(ir::KFor, Where);
analysis::Facts facts_of(const ir::Kernel&);               // symbols and assumptions
void range(analysis::Facts&, const ir::KFor&);             // its variable is in [begin, begin + extent)
void numbers(analysis::Facts&, const ir::Launch&);         // those of its blocks and threads are in their ranges
analysis::Facts inside(analysis::Facts, const ir::KFor&);  // with its range
ir::BufferFacts& lowering_of(ir::Kernel&, ir::Id buffer);  // to add to them
bool has_recurrences(const ir::Kernel&);                   // does a buffer hold one?
// Calls f for each launch of the host's body, with what holds in it: the symbols, and the ranges of its numbers.
void each_launch(ir::Kernel&, ir::FunctionRef<void(ir::KStmt&, const analysis::Facts&)> f);

}  // namespace ashlar::lowering
