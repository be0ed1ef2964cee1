// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What every primitive uses: finding the statements a step names, refusing in one form, and editing the tree.
//
// A primitive is one file in four parts: match (find what the arguments name), prove (obligations), rewrite (the tree),
// remap (what became of the handles). It works on a copy of the program: a refusal anywhere leaves nothing behind.
#include <functional>
#include <string>
#include <vector>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>

namespace ashlar::schedule {

using ir::AllocStmt;
using ir::BlockStmt;
using ir::Id;
using ir::LoopStmt;
using ir::NestStmt;
using ir::PrefetchStmt;
using ir::Program;
using ir::Stmt;

// What a step owes (legality.h); kind by kind, so that tests can leave one out and see what happens (force.h).
enum class Obligation { order, disjoint, cover, overcompute, idempotent, reassoc, biject, capacity };

struct UnprovedObligation {
  Obligation owed;
  Refusal refusal;
};

struct Context {
  Scheduled& state;
  Program& p;
  const Target& target;
  const Step& step;
  std::vector<Id> results;
  std::vector<UnprovedObligation>* unproved_obligations =
      nullptr;  // of a forced step: what was not proved, which does not stop it

  // An obligation that is not proved, or refuted: refuses, unless the step is forced. What it returns to goes on as if it held.
  void unproved(Obligation, const std::string& expected, const std::string& found, const std::string& conflict = {}) const;
  void unproved(Obligation, Refusal) const;
  // What the step cannot do in this place, proved or not.
  [[noreturn]] void refuse(const std::string& expected, const std::string& found, const std::string& conflict = {}) const;

  // Arguments by position, of the kinds that the primitive's parameters say.
  Stmt& loop(std::size_t arg) const;  // refused if the loop was consumed: names what it became
  ir::Stage& stage(std::size_t arg) const;
  ir::Buffer& buffer(std::size_t arg) const;
  std::int64_t integer(std::size_t arg) const;
  const std::string& word(std::size_t arg) const;
  const Scope& scope(std::size_t arg) const;
  const Arg& arg(std::size_t k) const;
  std::size_t count() const { return step.args.size(); }

  void consume(Id id, const std::string& name, const std::string& verb, const std::vector<Id>& successors);

 private:
  const Arg& expect(std::size_t k, Arg::Kind) const;
};

// ---- finding -------------------------------------------------------------------------------------------------------------
struct Spot {
  std::vector<Stmt>* body;
  std::size_t index;
  Stmt& operator*() const { return (*body)[index]; }
};
Spot locate(Program&, Id statement);    // where a statement stands in the body that holds it
Stmt& nest_of(Program&, Id statement);  // the innermost nest around a loop or block
const Stmt& nest_of(const Program&, Id statement);
const ir::Stage& stage_around(const Program&, Id statement);  // what that nest computes
Stmt& only_nest(Context&, const ir::Stage&);                  // refused where a peeled copy made several
bool encloses(const Program&, Id ancestor, Id statement);     // proper
std::string name_of(const Program&, const Stmt& loop);        // "io of C"
const char* word(ir::LoopKind);                               // "parallel"
std::string list_names(const std::vector<std::string>&);      // "a, b and c"
bool reads_buffer(const ir::Stage&, Id buffer);
// The atoms of a stage's domain that say which points have a value (those on steps of its reduction left out), at `point`.
std::vector<Expr> conditions_on_points(const ir::Stage&, const std::vector<Expr>& point);
// Where a buffer has elements, [begin, end) in each dimension, over symbols: of an argument, or of a stage whose box was
// declared and has no conditions besides.
std::optional<std::vector<std::pair<Expr, Expr>>> declared_box(const Program&, const ir::Buffer&);
bool block_reads(const Program&, const Stmt& block, Id buffer);  // by what piece of its stage it is
bool subtree_reads(const Program&, const Stmt&, Id buffer);      // any block below reads it
bool subtree_writes(const Program&, const Stmt&, Id buffer);
// Not yet vectorized, parallel, ...: names the call to move. `may_combine`: cross_thread_reduce may have been before.
void require_serial(const Context&, const Stmt& loop, bool may_combine = false);
// ", which peel copied (move the split before the peel)": what made more than one loop over an axis.
std::string copied_by(const Program&, const Stmt& loop, const std::string& step);
// An expression of a step, over symbols alone, with the names that the program has for them: replayed steps carry ids alone.
Expr over_symbols(const Context&, const Expr&, const char* what);
Expr condition_over_symbols(const Context&);              // the first argument, which some call can keep
void require_whole(const Context&, const Stmt& loop);     // not a part made by peel
void require_no_slide(const Context&, const Stmt& loop);  // no stage slides along it
// For each statement below the nest of a stage whose loops a step replaces: it is not the nest of a producer placed there, not
// an init or update that decompose_init made, not a part of a loop.
void require_no_producer(const Context&, const ir::Stage&, const Stmt&);
void require_undivided_block(const Context&, const ir::Stage&, const Stmt&);
void require_undivided_loop(const Context&, const Stmt&);

// ---- editing -------------------------------------------------------------------------------------------------------------
Stmt copy_subtree(Program&, const Stmt&);                                // fresh ids; nests inside get axes of their own
void replace_axis(std::vector<Stmt>& body, Id axis, const Expr& value);  // in conditions; boxes are derived again
bool slides_along(const std::vector<Stmt>& body, Id loop);               // does a nest in it slide along the loop?
void move_prefetches(std::vector<Stmt>& body, Id from, Id to);           // those along one loop run along another
// Removes the loops over reduction axes, but the one over `keep`: their bodies take their places.
void drop_reduction_loops(const Program&, std::vector<Stmt>& body, Id keep);
// A fresh nest for a stage: one serial loop for each iteration variable, spatial first; and its block.
Stmt fresh_nest(Program&, const ir::Stage&, Where);
Stmt fresh_alloc(Program&, Id buffer, Where);
// Puts statements into a body just before the first statement that uses one of the buffers.
void insert_before_use(Program&, std::vector<Stmt>& body, std::vector<Stmt> statements, const std::vector<Id>& buffers);
ir::Buffer& new_buffer(Context&, const ir::Buffer& like, const std::string& name, const Scope&);  // a temporary
void insert_beside(Program&, Id statement, Stmt, bool behind);                                    // before it, or behind
void insert_before(Program&, Id statement, std::vector<Stmt>);
Stmt take(Program&, Id statement);  // removes it from the tree and returns it

}  // namespace ashlar::schedule
