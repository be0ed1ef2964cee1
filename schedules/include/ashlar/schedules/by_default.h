// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The default schedule, for programs without one: how each stage is classified, where it is computed, in which tiles, lanes and
// threads, and why (docs/default.md).
//
//   void schedule(Schedule& s) override { schedule_by_default(s); }
//
//   schedules::Choices chosen = schedules::by_default(s);       std::puts(chosen.text().c_str());
//
//   y: elementwise; tiles: i by 32, j by 512, vectors of 16 along ji, io in parallel
//       each point by itself
//
// It handles every program. Each step is proved as if a user had made it; where one is refused, the next best is tried, and the
// choices say so. Stages that are already scheduled stay as they are. No value changes, except for the rounding of sums that
// are regrouped (`regroup`).
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
  row_reduction,     // over neighbours in memory; one result for each row
  column_reduction,  // over elements that lie apart; results are neighbours
  full_reduction,    // one result
  matmul,            // matrix multiplications and the like, also convolutions: two factors, each with dimensions of its own
  stencil,           // neighbours of a point; a window that is summed
  transposition,
  gather,      // an index of a read comes from data
  scatter,     // the index that is written comes from data
  recurrence,  // reads itself
  external,    // computed by a C function
  other
};
const char* name_of(Family);

struct DefaultOptions {
  // Reductions of floats may be regrouped (rfactor), so that lanes and threads have partial sums. Sums then round differently.
  // Without it, all results have the bits of the unscheduled program.
  bool regroup = true;
  bool parallel = true;     // loops may run on the pool of threads
  std::int64_t extent = 0;  // the assumed value of a Symbol, within its facts; 0: 1024, and enough work for threads
  // Elementwise results that are larger than the last-level cache are stored past the caches (x86-64). Their sizes must be
  // known: numbers, or assumed by `extent`.
  bool stream = true;
  // Instructions that treat subnormal numbers as 0 may be used (vdpbf16ps, for matrix multiplications of bf16 on x86).
  bool subnormals_as_zero = false;
  // Matrix multiplications of f16 and bf16 with sums in f32, and of bytes, may use the tensor cores of NVIDIA devices, which add
  // floats in an order of their own (docs/ir.md, "Tensor cores"). Not for floats where `regroup` is off. f32 never does.
  bool tensor_cores = true;
};

struct Choice {
  std::string stage;
  Family family;
  std::vector<std::string> done;  // "computed at i of y", "vectors of 16 along j"
  std::vector<std::string> why;   // "read by y and total at their own rows"
};

struct Choices {
  std::vector<Choice> stages;  // consumers first; inlined stages come before
  std::string text() const;    // one paragraph for each stage
  const Choice* find(const std::string& stage) const;
};

// Schedules all stages that have no schedule, and returns what it chose.
Choices by_default(Schedule&, const DefaultOptions& = {}, Where = Where::current());

}  // namespace schedules

// The same, in namespace ashlar.
schedules::Choices schedule_by_default(Schedule&, const schedules::DefaultOptions& = {}, Where = Where::current());

// The same for a program without a Schedule: makes one.
struct ScheduledByDefault {
  Schedule schedule;
  schedules::Choices choices;
};
ScheduledByDefault schedule_by_default(const lang::Built&, const Target&, const schedules::DefaultOptions& = {},
                                       Where = Where::current());

}  // namespace ashlar
