// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The passes of lowering, one file each; lower.h lists them in order, lower.cpp runs them.
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/lower/lower.h>

namespace ashlar::lower_impl {

using ir::has_load;

// A store all[k] = part[k] to the first result stands for: every thread gets, in every result, what the parts of all give
// together.
struct Combining {
  ir::Stage stage;                // whose reducer combines; not fused
  std::vector<ir::Id> part, all;  // one a component
  std::vector<ThreadAxis> axes;   // over whose threads, one after another
};

// A loop that is pipelined, by its variable.
struct Ring {
  int stages = 2;
  std::map<ir::Id, std::int64_t> buffers;  // that the loads write: the elements of one of the ring
  bool async_copy = false;
  Where where = {};
};

// A kernel on its way: some loops are still marked vectorized or unrolled. Stores that have a `var` are one group with all that
// have it: in different threads they write different elements.
struct Draft {
  ir::Kernel kernel;
  std::vector<std::size_t> roots;       // after flattening: how many statements each nest at the root became
  std::map<ir::Id, Where> alloc_lines;  // of the buffers that were allocated: where the user placed them
  std::set<ir::Id> mapped;              // the ones in which points share places: rings, what scatters choose
  std::set<ir::Id> fragments;           // and those that are held by the lanes of a warp
  std::set<ir::Id> recurrent;           // of recurrences
  // By a buffer that a scatter, or an atomic stage, stores to: variables of the loops over its points. Each iteration has a
  // step of its own, whether the element that it chooses moves with the variable or not.
  std::map<ir::Id, std::set<ir::Id>> points;
  std::map<ir::Id, Combining> combining;  // by the buffer that gets the first result
  std::map<ir::Id, Expr> parts;           // buffers in which each thread accumulates its part: what it starts from
  std::map<ir::Id, std::set<ir::Id>>
      reducing;                  // by such a buffer: variables of the loops over threads that share out its terms
  std::map<ir::Id, Ring> rings;  // by the loop's variable
  // Of buffers that are rings: which of its copies an address lies in.
  std::map<ir::Id, std::unordered_map<Expr, Expr, ir::ExprHash, ir::ExprSame>> slots;
};

void take_parts(ir::Program&);                    // reductions over threads: begin, update, combine
Draft flatten(ir::Program, const LowerOptions&);  // the program has explicit inits
void make_launches(Draft&, const LowerOptions&);
void pipeline(Draft&, const LowerOptions&);
void synchronise(Draft&);
void specialise_interior(Draft&, const LowerOptions&);
void hoist_guards(Draft&);
void choose_remainders(Draft&);
void runs(analysis::Facts&, const ir::KStmt& loop);                       // what holds in an iteration of it
void choose_remainders(std::vector<ir::KStmt>&, const analysis::Facts&);  // of statements, in whose place the facts hold
void know_strides(Draft&);
void convert_once(Draft&);
void expand_functions(Draft&);
void vectorize(Draft&);
void unroll_tables(Draft&);  // unroll.cpp: before `interior`, loops that pick indices from constants
void unroll(Draft&);
void fold_constants(Draft&);
void tidy(Draft&);
void store_spare_lanes(Draft&);
void check_registers(const Draft&, const LowerOptions&);
void take_first_steps(Draft&);
void carry(Draft&, const LowerOptions&);
void scan_in_lanes(Draft&, const LowerOptions&);
void drop_unread(Draft&);
// Of a program with variants: its kernel and theirs, lowered apart, as one.
ir::Kernel one_of(const ir::Program&, ir::Kernel general, std::vector<ir::Kernel> variants);

// ---- small helpers over statements -------------------------------------------------------------------------------------
ir::KStmt store_stmt(ir::Id buffer, Expr address, Expr value, Where);
ir::KStmt if_stmt(Expr condition, std::vector<ir::KStmt> body, Where);
ir::KStmt let_stmt(ir::Id var, std::string name, Expr value, std::vector<ir::KStmt> body, Where);
ir::Id unused_id(const ir::Kernel&);          // larger than any id in the kernel
analysis::Facts facts_of(const ir::Kernel&);  // symbols and assumptions

}  // namespace ashlar::lower_impl
