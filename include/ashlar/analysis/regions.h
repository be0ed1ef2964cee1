// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Regions: which box of each stage is computed at each nest, and which box of each buffer is stored at its alloc. Both are
// derived from the tree after every schedule step and never stored beside it, so they cannot be stale.
//
//   consumer C reads P at y-1, y, y+1; P is computed inside C's loop over y:
//     nest P    [y - 1, y + 2)
//   C runs over io*64 + ii with a guard against H, P is computed inside io:
//     nest P    [io*64 - 1, min(io*64 + 63, H - 1) + 2)
//
// Rules. At the top, a nest with a declared domain computes the whole domain; inside a loop, it computes what the readers in
// the same body need, clipped to the domain. A stage with an inferred domain computes the hull of what its readers in the same
// body need, clipped to its domain (domains.h), and nothing if a condition of the domain fails. Hulls are boxes. A nest that
// slides (Slide) starts where the previous iteration ended, except in the first iteration. A nest after its producer
// (Stmt::after) computes the points that the producer finishes in the same body.
#include <vector>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// Fills in the roots of all nests and the extents of all axes. Refuses, at the reader's line, an index that has no bound.
// `within`: only for this nest and those inside it, if a step left the others unchanged.
void derive_regions(ir::Program&, ir::Id within = 0);

// The part of the nest's stage that readers in the same body need, before sliding: one interval for each spatial iteration
// variable, over the variables of the loops around the nest. Unbounded ends are empty. Regions must have been derived. For a
// recurrence, `before` adds the steps before those that are read; `read` does not, and counts only the new points of readers
// that slide.
enum class Steps { before, read };
std::vector<Interval> required_region(const ir::Program&, ir::Id nest, Steps = Steps::before);

struct Box {
  std::vector<Expr> lo, extent;
};
// The logical box of a temporary: the hull of what the blocks below its alloc read and write; over the variables of the
// loops around the alloc. And the box of its physical coordinates, after Layout::map and padding. The id is that of the alloc
// statement (a peeled loop may hold a copy of an alloc, with a box of its own), or of the buffer where it has only one.
Box logical_box(const ir::Program&, ir::Id alloc_or_buffer);
Box physical_box(const ir::Program&, ir::Id alloc_or_buffer);
// Bounds of the physical extents over symbols only, whatever the loops around the alloc do; empty Exprs where there is none.
std::vector<Expr> storage_extents(const ir::Program&, ir::Id alloc_or_buffer);

// Facts that hold at a statement: those of the arguments, and the ranges of the enclosing loops.
Facts facts_at(const ir::Program&, const std::vector<const ir::Stmt*>& path);
Facts facts_at(const ir::Program&, ir::Id statement);

// The conditions under which a block executes, over axis variables, those left out that the loops around it imply: one
// `value < extent` for each split with a guard, the stage's domain atoms, the block's own. With `spatial_only` (an init) those
// of reduce axes are left out. The path ends at the block.
std::vector<Expr> conditions_of(const ir::Program&, const std::vector<const ir::Stmt*>& path, bool spatial_only = false);

// The ranges of the loops strictly below `outer` on the path (innermost first), for eliminating them; outer = 0: all loops.
std::vector<VarRange> loops_below(const ir::Program&, const std::vector<const ir::Stmt*>& path, ir::Id outer);

// The iterations that a root axis really covers: its extent, or more if a split pads.
Expr covered_extent(const ir::Program&, ir::Id axis);

// Every load of a stage's values (and inits), with the conditions of the selects around it; and those of tables that the bounds
// of its axes are read from.
struct Read {
  Expr load;
  std::vector<Expr> conditions;
  bool of_start = false;  // of a reduction: at each spatial point once, whatever its reduce domain holds
  ir::Id bounds = 0;  // the iteration variable that this is a bound of: read wherever those before it run, in the domain or not
};
std::vector<Read> reads_of(const ir::Stage&);
bool depends_on_data(const Expr&);  // a load, or a Scalar
// Whether a block does this read, given the piece of the stage that it computes. An init does the reads of the start, an update
// the rest. In a reduction over threads, `combine` does the reads of the start where it stores, and `begin` does none.
bool happens_in(const Read&, const ir::Stmt& block);

// Stage ids, consumers before producers.
std::vector<ir::Id> consumers_first(const ir::Program&);

bool regions_are_known(const ir::Program&);  // whether every nest has its box

}  // namespace ashlar::analysis
