// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The legal orders of a recurrence: every element that a step reads must be computed before the step.
//
// This is decided loop by loop, from the outermost one, by the constant distances of the reads (ir/recurrence.h) and the origin
// of each loop. For a reader and the element that it reads, a loop determines whether they are in the same iteration, or in
// which order. The first loop in which they differ must run its iterations in order, and the reader's iteration must be later.
//
//   y(t) reads y(t - 1)     t: 1 apart, carried                 split: to may be one apart, or the same; ti then is
//   u(k, i) reads u(k - 1, i + 1)     k, i: carried by k        ko, io, ki, ii: io may be one too many where ko is the same
#include <optional>
#include <string>
#include <vector>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct Misorder {
  const ir::Stmt* loop;    // the loop that violates the order
  bool order;              // whether its position or split violates it; otherwise its kind does
  std::string read;        // "u[k - 1, i + 1]"
  std::string iterations;  // "u[1, 0] reads u[0, 1], ..."
};
// Of a nest of a recurrence.
std::optional<Misorder> misordered(const ir::Program&, const ir::Stmt& nest);

// Whether a reader and the element that it reads are always in the same iteration of this axis of a recurrence's nest, so that
// iterations are independent.
bool iterations_apart(const ir::Program&, const ir::Stage&, ir::Id axis);

// Extends `box`, one interval for each dimension, to the box that must be computed to get it: from the begin of the domain
// along dimensions in which reads go back, and to the whole domain where reads go elsewhere.
void close_box(const ir::Program&, const ir::Stage&, std::vector<Interval>& box);

// The reason why a stage inside a recurrence cannot be computed where its nest is; empty if it can. Its nest must be inside all
// loops along which the recurrence runs, or read only elements of earlier iterations of the loops around it.
std::optional<std::string> misplaced(const ir::Program&, const ir::Stmt& nest, ir::Id recurrence);

}  // namespace ashlar::analysis
