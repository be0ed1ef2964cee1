// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How a recurrence may be carried out: every element that a step reads is computed before it.
//
// Judged loop by loop, the outermost first, from the constant distances of its reads (ir/recurrence.h) and from where each loop
// came from. Of a reader and what it reads, a loop says that they are in one iteration, or in which order; the first loop in
// which they differ must run its iterations in their order, and the reader's must be the later one.
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
  const ir::Stmt* loop;    // the loop that is in the way
  bool order;              // its place or its split is; else what kind of loop it is
  std::string read;        // "u[k - 1, i + 1]"
  std::string iterations;  // "u[1, 0] reads u[0, 1], ..."
};
// Of a nest of a recurrence.
std::optional<Misorder> misordered(const ir::Program&, const ir::Stmt& nest);

// Are a reader and what it reads always in one iteration of this axis of a recurrence's nest? Then iterations have nothing to
// do with each other.
bool iterations_apart(const ir::Program&, const ir::Stage&, ir::Id axis);

// The box that must be computed so that all of `box` is, one interval a dimension: from the begin of the domain to what is
// needed, along dimensions in which reads go back; the whole domain, where they go elsewhere.
void close_box(const ir::Program&, const ir::Stage&, std::vector<Interval>& box);

// What keeps a stage inside of a recurrence from being computed where its nest stands: it stands inside all loops along which
// the recurrence runs, or all that it reads of the recurrence is of earlier iterations of the loops around. Nothing where it
// may.
std::optional<std::string> misplaced(const ir::Program&, const ir::Stmt& nest, ir::Id recurrence);

}  // namespace ashlar::analysis
