// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The table of primitives: a name, and the function of its file.
#include "schedule/edit.h"

namespace ashlar::schedule {

struct Primitive {
  const char* name;
  void (*apply)(Context&);
};

void apply_split(Context&);             // loop, factor, tail            -> outer, inner
void apply_split_parts(Context&);       // loop, parts, tail             -> outer, inner
void apply_fuse(Context&);              // outer, inner                  -> fused
void apply_skew(Context&);              // along, loop, factor           -> skewed
void apply_reorder(Context&);           // loops, outermost first
void apply_peel(Context&);              // loop, "first" | "last"        -> the loop of the peeled iteration
void apply_partition(Context&);         // loop, point                   -> the loop from the point on
void apply_unroll_and_jam(Context&);    // loop
void apply_reverse(Context&);           // loop
void apply_fuse_siblings(Context&);     // stage, loop of another
void apply_clone(Context&);             // stage, readers...             -> stage
void apply_tighten(Context&);           // loop
void apply_unroll(Context&);            // loop
void apply_vectorize(Context&);         // loop
void apply_parallel(Context&);          // loop
void apply_bind(Context&);              // loop, axis of a launch
void apply_vthread(Context&);           // loop
void apply_cross_thread(Context&);      // loop
void apply_pipeline(Context&);          // loop, stages, async, loads...
void apply_double_buffer(Context&);     // stage
void apply_compute_at(Context&);        // stage, loop
void apply_compute_root(Context&);      // stage
void apply_inline(Context&);            // stage
void apply_store_at(Context&);          // stage, loop
void apply_slide(Context&);             // stage, loop
void apply_fold(Context&);              // stage, dim, extent
void apply_fuse_into(Context&);         // stage, loop of its producer
void apply_cache_read(Context&);        // buffer, scope, has fill, [fill], readers...  -> stage
void apply_cache_write(Context&);       // stage, scope                  -> stage
void apply_set_layout(Context&);        // stage, map
void apply_swizzle(Context&);           // stage, map
void apply_drop_dim(Context&);          // stage, component, dim
void apply_align(Context&);             // stage, dim, multiple
void apply_widen(Context&);             // stage, type
void apply_set_scope(Context&);         // stage, scope
void apply_pack_argument(Context&);     // buffer, map
void apply_roll(Context&);              // stage, leader, rescale
void apply_rfactor(Context&);           // stage, loop                   -> stage
void apply_cut(Context&);               // stage, terms, loop            -> stage
void apply_associative_scan(Context&);  // stage, loop                 -> totals, carries, blocks
void apply_prefetch(Context&);          // loop, buffer, ahead
void apply_stream_store(Context&);      // stage
void apply_decompose_init(Context&);    // loop
void apply_atomic(Context&);            // stage
void apply_tensorize(Context&);         // loop, intrinsic
void apply_assume(Context&);            // condition
void apply_injective(Context&);         // buffer
void apply_specialize(Context&);        // condition
void apply_distribute(Context&);        // stage                         -> stages

std::span<const Primitive> primitives();

// The call as text, with the names that its arguments have before it; and what it made, with those after it.
std::string call_text(const Scheduled&, const Step&);
std::string result_text(const Scheduled&, const Step&);

// Obligations that stay on a program after a step; each proves or throws through the context of the current step. `before`: the
// program from which the step made this one, in which all of them held; null: prove them whatever they follow from.
void recheck(Context&, const Program* before);
bool annotates(const Context&);    // changes kinds or scopes alone: no region, no order, no read
bool keeps_boxes(const Context&);  // a step after which every box and extent is what it was
// The nest whose loops were rearranged without a change of the points it computes; 0 where more may have changed. The boxes of
// nests outside of it stay, since whole nests are all that they depend on.
ir::Id rearranged(const Context&);

}  // namespace ashlar::schedule
