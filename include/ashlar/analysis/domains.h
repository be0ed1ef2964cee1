// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Domains: all points at which a stage may be computed, under any schedule.
//
//   C = compute("C", {N}, P(i - 1) + P(i + 1))     P has the domain [-1, N], where N >= 1, and none where N is 0
//
// A declared domain is part of the stage's definition. An inferred domain is the hull of all reads by readers that run over
// their own domains. The proof that no read is out of bounds relies on these invariants:
//   - what a reader reads at a point of its domain lies in the box (the box may be wider: readers without a point widen it
//   too);
//   - a nest computes no point outside of the box, and none at all where a condition in `inhabited` fails (regions.h).
// So a proof for the points of the box holds wherever the stage is placed.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct Domain {
  std::vector<Interval> box;       // of each iteration variable
  std::vector<Interval> computed;  // the box, extended by what padded splits compute past it
  std::vector<Interval> covered;   // `computed`, extended by what is computed past its end (Tail::cover)
  // Conditions over symbols that hold wherever the stage has a point: its declared extents are at least 1; if it is inferred,
  // the conditions common to all its readers.
  std::vector<Expr> inhabited;
  // If two answers on one thread have equal revisions, they have the same domain, stage definition, buffers that the stage
  // stores to and reads, and facts of the arguments.
  std::uint64_t revision = 0;
};

struct Domains {
  std::map<ir::Id, Domain> of;  // by stage
  // If two answers on one thread have equal revisions, they have the same domains, and the definitions that these follow from.
  std::uint64_t revision = 0;
  const Domain& at(ir::Id stage) const;
};

// A factor of a split with Tail::pad that is not a constant, so that the padding is unbounded; empty if there is none.
Expr symbolic_pad(const ir::Program&);

// Refuses, at the reader's line, an index of an inferred stage that has no bound.
Domains domains_of(const ir::Program&);

// Whether a condition over symbols holds in every call that computes anything. A call whose outputs are all empty returns at
// once, so it suffices that the condition follows for each output, taken alone, from its extents being at least 1.
bool holds_in_calls(const ir::Program&, const Expr& condition);

}  // namespace ashlar::analysis
