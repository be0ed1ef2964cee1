// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The whole way from a generator to what is written: algorithm -> program -> schedule -> kernel -> code. One function, used by
// the command line tool and by instantiate<G>() alike.
//
//   PipelineOptions options;  options.function = "matmul";
//   Compilation c = run_pipeline(make_generator(...), options);       // refusals travel as RefusalError
//   c.schedule->text();  lower_kernel(c, options);  c.kernel;
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tile.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>

#include "generator/select.h"

namespace ashlar::generator {

struct PipelineOptions {
  std::string function;                    // the C symbol
  std::string replay;                      // the text of a saved schedule; empty: schedule() is called
  std::string replay_file;                 // where it was read from, for people
  const char* replay_option = "--replay";  // that named it
  bool profile = false;                    // stages record themselves
  std::vector<Decision> decisions = {};    // of choices that schedule() makes
  std::optional<std::uint64_t> seed = {};  // draws those that are not decided
  bool backward = false;                   // the derivative instead, scheduled by default (backward.h)
  std::function<void(const std::string& step, const std::string& program)> observe;  // after every schedule step
  // Called when the schedule, or what its end requires, is refused: with what there is up to there. The refusal travels on.
  std::function<void(const struct Compilation&, const Refusal&)> refused = {};
  std::vector<PassTime>* times = nullptr;  // one entry a pass is added
};

struct Compilation {
  MadeGenerator made;
  ir::Program algorithm;              // before the schedule
  std::optional<Schedule> schedule;   // after it
  ir::Kernel kernel;                  // after lower_kernel
  std::size_t kept = 0, weights = 0;  // with `backward`: as there
};

Compilation run_pipeline(MadeGenerator, const PipelineOptions&);  // up to the schedule
ir::Program algorithm_of(MadeGenerator, const PipelineOptions&);  // without it
void lower_kernel(Compilation&, const PipelineOptions&);

// Measures the CPU time of the calling thread from its construction to its end, into `times` (if any) under `pass`.
class PassTimer {
 public:
  PassTimer(std::vector<PassTime>* times, std::string pass);
  ~PassTimer();
  PassTimer(const PassTimer&) = delete;
  PassTimer& operator=(const PassTimer&) = delete;
  static double now_ms();

 private:
  std::vector<PassTime>* times_;
  std::string pass_;
  double begin_;
};

}  // namespace ashlar::generator
