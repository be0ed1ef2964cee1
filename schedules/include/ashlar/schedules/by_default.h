// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A schedule for a program that has none: what each stage is taken for, where it is computed, in which tiles, lanes and
// threads, and why. docs/default.md.
//
//   void schedule(Schedule& s) override { schedule_by_default(s); }
//
//   schedules::Choices chosen = schedules::by_default(s);       std::puts(chosen.text().c_str());
//
//   y: elementwise; tiles: i by 32, j by 512, vectors of 16 along ji, io in parallel
//       each point by itself
//
// Every program that a user wrote without a schedule is taken, and none is refused: each step is proved as if a user had
// written it, and where it is refused the next best one is tried, which the choices say. A stage that was scheduled already is
// left as it is. All values are what they were, but for the roundings of sums that are regrouped (`regroup`).
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar {

namespace lang {
struct Built;
}

namespace schedules {

enum class Family {
  elementwise,
  row_reduction,     // over neighbours in memory, a result for each row
  column_reduction,  // over what lies apart; results are neighbours
  full_reduction,    // one result
  product,           // of matrices and the like: two factors, each with dimensions of its own; convolutions too
  stencil,           // neighbours of a point; a window that is summed
  transposition,
  gather,      // an index is read from data
  scatter,     // the element that is written is
  recurrence,  // reads itself
  external,    // a function in C computes it
  other
};
const char* name_of(Family);

struct DefaultOptions {
  // Reductions of floats may be taken apart (rfactor), so that lanes and threads have sums of their own: sums are rounded in
  // another order than that of their terms. Without it every result has the bits of the algorithm as it was written.
  bool regroup = true;
  bool parallel = true;     // loops for the pool of threads
  std::int64_t extent = 0;  // what a Symbol is taken for, within what its declaration says; 0: 1024, and enough for threads
  // Results of stages that compute each point by itself, of sizes that are known (numbers, or `extent` says so) and exceed the
  // last cache, go past the caches (x86-64).
  bool stream = true;
  // Instructions that take subnormal numbers for 0 may be used (products of bf16 on x86: vdpbf16ps).
  bool subnormals_as_zero = false;
};

struct Choice {
  std::string stage;
  Family family;
  std::vector<std::string> done;  // "computed at i of y", "vectors of 16 along j"
  std::vector<std::string> why;   // "read by y and total at their own rows"
};

struct Choices {
  std::vector<Choice> stages;  // consumers first, those that were inlined before
  std::string text() const;    // a paragraph a stage
  const Choice* find(const std::string& stage) const;
};

Choices by_default(Schedule&, const DefaultOptions& = {}, Where = Where::current());

}  // namespace schedules

// The name under which a user looks for it.
schedules::Choices schedule_by_default(Schedule&, const schedules::DefaultOptions& = {}, Where = Where::current());

// The same for a program that no Schedule was made of.
struct ScheduledByDefault {
  Schedule schedule;
  schedules::Choices choices;
};
ScheduledByDefault schedule_by_default(const lang::Built&, const Target&, const schedules::DefaultOptions& = {},
                                       Where = Where::current());

}  // namespace ashlar
