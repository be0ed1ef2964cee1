// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Shared by the memory-bound families: the number of lanes of a stage, the loop over neighbors in memory, and reductions in
// lanes.
#include <cstdint>
#include <optional>
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar::ir {
struct Stage;
}

namespace ashlar::schedules {

// Whether a vector fills a cache line. Non-temporal stores collect a line in one of a few buffers, which the processor writes
// when it is full. If several rows are stored side by side in vectors of half a line, buffers are often written early; how
// often varies by a factor of 3 between processors. Vectors of whole lines avoid this.
bool fills_lines(const Target& t);

}  // namespace ashlar::schedules

namespace ashlar::schedules::detail {

// The definition that the stage has in the program of the schedule.
const ir::Stage& definition(const Schedule& s, const Stage& stage);

// Refuse, in the name of `family`: a GPU, an option below `least`, an option that is not a power of two.
void expect_processor(const char* family, const Schedule& s, Where where);

void expect_option(const char* family, const char* name, std::int64_t value, std::int64_t least, Where where);
void expect_power_of_two(const char* family, const char* name, std::int64_t value, Where where);

// The number of lanes that a register holds of the widest type that the stage stores or computes with, not counting indices.
int lanes_of(const Schedule& s, const Stage& stage);

// Fuses the loops; there is at least one.
Loop fused(const Stage& stage, const std::vector<Loop>& loops, Where where);

// The innermost loop over points of a stage whose loops have not been changed yet. Loop() if it has no dimensions.
Loop innermost_point(const Stage& stage, Where where);

// The largest power of two that is at most n, up to 2^20; 1 if n is smaller.
int power_of_two_up_to(std::int64_t n);
// The value of a constant extent; `otherwise` for one over Symbols.
std::int64_t number_or(const Expr& extent, std::int64_t otherwise);

// An option that is given, or where it is left open (0) the choice STAGE.NAME: usually `usual`, or one of `others` that is at
// least 1.
std::int64_t given_or_chosen(Schedule& s, const Stage& stage, const char* name, std::int64_t given, std::int64_t usual,
                             const std::vector<std::int64_t>& others, Where where);

// Splits `points`, and unrolls the inner loop over at most `together` points. The loops `inside` go inside it, the loops
// `terms` outside. As the inner loop of a split, it has a constant number of iterations.
void points_together(const Stage& stage, Loop points, int together, const std::vector<Loop>& terms,
                     const std::vector<Loop>& inside, Where where);

// The number of points of a stage along a dimension, in variables of the program, for known(). Empty if the domain is inferred.
Expr points_along(const Schedule& s, const Stage& stage, std::size_t dim);
// Whether the condition holds in all calls that reach this schedule, or in none. Empty if it depends on the call.
std::optional<bool> known(const Schedule& s, const Expr& condition);

// Vectorizes a reduction: `accumulators` registers of `lanes` each, then a tree of halves. `terms` is the innermost loop over
// the terms, which are neighbors in memory. `point` is the innermost loop over points of the stage, or Loop().
//
//   for ko in (K + W - 1) / W              W = accumulators * lanes
//     part[0 .. W) += terms[ko * W ..]     registers
//   part[0 .. W / 2) + part[W / 2 ..), and so on; the stage adds the last two
//
// Returns false and leaves the serial loop if the terms must keep their order, if there are too few of them, or if a step is
// refused.
//
// With `rows.together` > 1 the stage is computed at `rows.at` for that many rows, the points of its dimension `rows.dim`. Each
// loop is then unrolled over the rows, so that their dependent sums overlap. If `rows.at` is a loop of the stage itself, the
// stage has split that dimension already, and `rows.each` is its loop over the rows. `rows.packed`: the steps of the tree whose
// lanes are few hold those of all rows in one vector. This is for merges that cost more than moving the lanes there.
struct InterleavedRows {
  int together = 1;
  Loop at = {}, each = {};
  std::size_t dim = 0;
  bool packed = false;
};
bool reduce_in_lanes(Schedule& s, const Stage& stage, Loop point, Loop terms, int lanes, int accumulators, Where where,
                     const InterleavedRows& rows = {});

}  // namespace ashlar::schedules::detail
