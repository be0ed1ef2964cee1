// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the families bound by memory share: which type decides the lanes of a stage, which of its dimensions neighbours in
// memory belong to, and reductions in lanes.
#include <cstdint>
#include <optional>
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar::ir {
struct Stage;
}

namespace ashlar::schedules {

// Whether a vector is a line of the cache. Stores past the caches fill a line in one of a few buffers, which is written when it
// is full. Where several rows are stored beside each other, by vectors of half a line, processors differ by a factor of 3 in
// how often a buffer has to go before it is full; whole lines never wait.
bool fills_lines(const Target& t);

}  // namespace ashlar::schedules

namespace ashlar::schedules::detail {

const ir::Stage& definition(const Schedule& s, const Stage& stage);

void expect_processor(const char* family, const Schedule& s, Where where);

void expect_option(const char* family, const char* name, std::int64_t value, std::int64_t least, Where where);
// Of what is halved until one is left.
void expect_power_of_two(const char* family, const char* name, std::int64_t value, Where where);

// Its lanes are as many as a register holds of the widest numbers that it stores or computes with, indices aside.
int lanes_of(const Schedule& s, const Stage& stage);

// All of them as one loop; there is at least one.
Loop fused(const Stage& stage, const std::vector<Loop>& loops, Where where);

// The innermost loop over points of a stage whose loops are as they were defined.
Loop innermost_point(const Stage& stage, Where where);

int power_of_two_up_to(std::int64_t n);
// The number of an extent, or `otherwise` where it is over symbols.
std::int64_t number_or(const Expr& extent, std::int64_t otherwise);

// The loop over `together` points at most, or fewer, of a stage: unrolled, with the loops `inside` in it, and inside of those
// over terms that are not. As the inner loop of a split it is of a constant number.
void points_together(const Stage& stage, Loop points, int together, const std::vector<Loop>& terms,
                     const std::vector<Loop>& inside, Where where);

// How many points a stage has along a dimension, in the variables of the program: what known() takes. Empty where that is what
// its readers need.
Expr points_along(const Schedule& s, const Stage& stage, std::size_t dim);
// Does the condition hold in all calls that are left to this schedule, or in none? Else the call decides.
std::optional<bool> known(const Schedule& s, const Expr& condition);

// A reduction in lanes: `accumulators` registers of `lanes` each, then one tree of halves. `terms` is the innermost loop over
// the terms, of neighbours in memory; `point` the innermost loop over points of the stage, Loop() where it has none.
//
//   for ko in (K + W - 1) / W              W = accumulators * lanes
//     part[0 .. W) += terms[ko * W ..]     registers
//   part[0 .. W / 2) + part[W / 2 ..), and so on; the stage adds the last two
//
// What may not be regrouped, or in any order only, keeps its serial loop: false.
//
// With `rows.together` > 1 the stage is computed at `rows.at` for so many rows, numbers of its dimension `rows.dim`; each of
// these loops is then unrolled over the rows, so that they wait for each other's sums less. A stage that `rows.at` is a loop of
// has split that dimension itself: `rows.each` is its loop over the rows.
struct RowsTogether {
  int together = 1;
  Loop at = {}, each = {};
  std::size_t dim = 0;
};
bool reduce_in_lanes(Schedule& s, const Stage& stage, Loop point, Loop terms, int lanes, int accumulators, Where where,
                     const RowsTogether& rows = {});

}  // namespace ashlar::schedules::detail
