// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The default schedule, for programs that have none. It classifies each stage, decides where the stage is computed and in which
// tiles, lanes and threads, and says why (docs/default.md).
//
//   void schedule(Schedule& s) override { schedule_by_default(s); }
//
//   schedules::Choices chosen = schedules::by_default(s);       std::puts(chosen.text().c_str());
//
//   y: elementwise; tiles: i by 32, j by 512, vectors of 16 along ji, io in parallel
//       each point by itself
//
// It handles every program. Each step is proved as if a user had written it. If a step is refused, the scheduler tries the next
// best one and records that in its choices. Stages that already have a schedule are left alone, so schedule a stage by hand
// before this call. Results do not change, except for the rounding of sums (`regroup`, `tensor_cores`).
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
  row_reduction,     // over neighbors in memory; one result for each row
  column_reduction,  // over elements that lie apart; results are neighbors
  full_reduction,    // one result
  matmul,            // two factors, each with dimensions of its own: matrix multiplications, convolutions and the like
  stencil,           // reads the neighbors of a point, or sums over a window
  transposition,
  gather,      // reads at indices that come from data
  scatter,     // writes at indices that come from data
  recurrence,  // reads itself
  external,    // computed by a C function
  other
};
const char* name_of(Family);

struct DefaultOptions {
  // Regroup reductions of floats (rfactor), so that lanes and threads keep partial sums. Sums then round differently. If off,
  // all results equal those of the unscheduled program bit for bit.
  bool regroup = true;
  bool parallel = true;     // loops may run on the pool of threads
  std::int64_t extent = 0;  // the assumed value of a Symbol, within its facts; 0: 1024, and enough work for threads
  // Store elementwise results that exceed the last-level cache with non-temporal stores (x86-64). Their sizes must be known:
  // numbers, or assumed by `extent`.
  bool stream = true;
  // Allow instructions that treat subnormal numbers as 0 (vdpbf16ps, for matrix multiplications of bf16 on x86).
  bool subnormals_as_zero = false;
  // Allow the tensor cores of NVIDIA devices for matrix multiplications of f16 and bf16 with sums in f32, and of bytes. They
  // add floats in an unspecified order (docs/ir.md, "Tensor cores"), so floats also need `regroup`. Products of f32 never use
  // them.
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

// Schedules every stage that has no schedule, and returns what it chose.
Choices by_default(Schedule&, const DefaultOptions& = {}, Where = Where::current());

}  // namespace schedules

// The same, in namespace ashlar.
schedules::Choices schedule_by_default(Schedule&, const schedules::DefaultOptions& = {}, Where = Where::current());

// The same for a program that has no Schedule object yet; makes one.
struct ScheduledByDefault {
  Schedule schedule;
  schedules::Choices choices;
};
ScheduledByDefault schedule_by_default(const lang::Built&, const Target&, const schedules::DefaultOptions& = {},
                                       Where = Where::current());

}  // namespace ashlar
