// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The obligations that primitives owe (program-model section 5), each a function that returns when it is proved and refuses,
// at the line of the current step, when it is refuted (with two conflicting iterations) or cannot be decided (with the term).
//
//   ORDER       prove_reassociation, prove_order        DISJOINT    prove_independent, prove_parallel, prove_vectorizable
//   COVER       prove_reads                             OVERCOMPUTE prove_tail (pad)
//   IDEMPOTENT  prove_tail (shift)                      REASSOC     prove_reassociation, prove_joinable
//   BIJECT      prove_bijective                         CAPACITY    prove_constant_extent, prove_fold, finish, finish_launches
#include "schedule/edit.h"

namespace ashlar::schedule {

void prove_tail(Context&, const Stmt& loop, const Expr& factor, ir::Tail);  // at the call, before the split
void prove_split(Context&, const Stmt& nest, const ir::Axis& outer);        // again, on a split that stands
void prove_tight(Context&, const Stmt& loop);                               // its outer loops stand around it
void prove_constant_extent(Context&, const Stmt& loop, std::int64_t most);
// Of a loop of n * vscale iterations, which may become vectors of that length: false for all other loops.
bool prove_scalable(Context&, const Stmt& loop);
void prove_vectorizable(Context&, const Stmt& loop);
// Its iterations, of one another. `in_memory`: steps of an atomic stage may meet in one element.
void prove_independent(Context&, const Stmt& loop, bool in_memory = false);
void prove_apart(Context&, const Stmt& loop);  // what other stages store inside it
void prove_parallel(Context&, const Stmt& loop);
void prove_bound(Context&, const Stmt& loop);     // to the blocks or threads of a launch
void prove_virtual(Context&, const Stmt& loop);   // its iterations are virtual threads
void prove_tile(Context&, const Stmt& loop);      // its iterations are a dimension of tiles
void prove_combined(Context&, const Stmt& loop);  // a reduction over threads
void prove_pipeline(Context&, const Stmt& loop);
// The loop on this path that runs a number of times that depends on the thread, in words; empty if there is none.
std::string divergence(const Program&, const std::vector<const Stmt*>& path);
// The loop does what its intrinsic means, over tiles that lie as the intrinsic wants them; and the target has it.
void prove_tensorized(Context&, const Stmt& loop, const ir::Intrinsic&);
void finish_fragments(Context&);  // each lane finds what it touches in its own registers
void finish_launches(Context&);   // every launch has one shape, and fits the device
// `conflict`: two iterations whose order, or grouping, would change.
void prove_reassociation(Context&, const ir::Stage&, const std::string& because, const std::string& conflict);
// Parts of a reduction that have no terms may meet: the identity combined with itself is the identity. `because`: where one is.
void prove_joinable(Context&, const ir::Stage&, const char* because);
void prove_external(Context&, const Stmt& nest);    // what a function computes lies in memory, and so does what it reads
void prove_recurrence(Context&, const Stmt& nest);  // what a step reads is computed before it
// A stage that does not read itself: what the step does would disturb the order.
void require_no_recurrence(const Context&, const ir::Stage&, const std::string& why);
void prove_slide(Context&, const Stmt& nest, const ir::Slide&);
void prove_fold(Context&, const ir::Buffer&);
// Of a dimension of a recurrence along which its reads go back: the ring has room for a step and those that it reads, and for
// what readers of the nest read when it has run. False: no such dimension.
bool prove_steps_fold(Context&, const Stmt& nest, const ir::Buffer&, std::size_t dim, std::int64_t slots);
// The slots of a dimension that is stored as a ring (fold): index v lies in slot v % n. None for other dimensions.
std::optional<std::int64_t> ring_of(const ir::Layout&, std::size_t dim);
void prove_bijective(Context&, const ir::Buffer&, const std::vector<Id>& vars, const std::vector<Expr>& map);
void prove_dropped(Context&, const Stmt& nest);     // the values that are stored once are the same, and computed once
void prove_bijective(Context&, const Stmt& alloc);  // again, of a layout that stands: all of it but its rings
void prove_within(Context&, const ir::Buffer&, const std::vector<Expr>& extents);  // the layout needs no more storage than that
void prove_beside(Context&, const Stmt& nest);  // beside another's loop: what an iteration reads was computed by then
bool beside_stage(const Program&, const Stmt& block, Id stage);  // is the block computed beside a loop of that stage?
// An output inside of a loop of its reader: every element is computed in some iteration. `besides`: what a refusal adds.
void prove_needed(Context&, const ir::Stage&, const std::string& besides = {});
bool stores_outputs(const Program&, const ir::Stage&);
void prove_after(Context&, const Stmt& nest);  // a nest put after its producer sees finished points, each once
void prove_order(Context&);                    // every read finds its buffer allocated around it and computed before it
void prove_reads(Context&);                    // every read lies in the domain of what it reads
void prove_in_place(const Program&);           // an output that may be an input stores nothing that is read afterwards
void prove_still_in_place(Context&, const Program& before);  // which held of what the step began with

// Scatters: the element that a step chooses lies in the declared result, for steps at which `at_steps` holds.
void prove_targets(Context&, const ir::Stage&, const analysis::Facts& at_steps);
// What the iterations of a loop choose; `instead`: what else there is.
void prove_steps_apart(Context&, const Stmt& loop, const std::string& expected, const std::string& instead);
void prove_scatter_place(Context&, const Stmt& nest);

// Atomic stages: memory combines their values; no element is updated before its init is stored, or read before the last update.
void prove_memory_combines(Context&, const ir::Stage&);
void prove_atomic(Context&, const Stmt& nest);

// Whether a value is the identity of its sum (zero) for every k >= end: reads of zero-filled caches past their source, products
// of such, selects on k.
bool zero_from(const Program&, const Expr& value, Id k, const Expr& end);

}  // namespace ashlar::schedule
