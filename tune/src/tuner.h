// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The search: candidates are proposed, built side by side, and then run one after the other, each beside the best so far.
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "tune/src/database.h"
#include "tune/src/generator_tool.h"
#include "tune/src/measure.h"
#include "tune/src/searcher.h"

namespace ashlar::tune {

struct TuneOptions {
  std::string searcher = "evolution";
  int trials = 64;       // candidates that are timed
  double seconds = 1e9;  // no new candidate is begun after them
  std::uint64_t seed = 1;
  int jobs = 2;                                        // generators that run at once
  std::optional<std::vector<std::string>> parameters;  // that are tuned; nothing: all that leave the algorithm what it is
  MeasureOptions measure;
  ProblemOptions problem;
};

struct Progress {
  int measured = 0, refused = 0, failed = 0;  // failed: wrong, crashed, timed out
  double usual_seconds = 0, best_ratio = 1;
  double cpu_seconds = 0;  // of building
};

struct Result {
  Task task;
  Record best;  // with the ratio of a last, longer measurement beside the usual candidate
  Progress progress;
  bool ended_early = false;  // the searcher knew no other candidate
};

class Tuner {
 public:
  Tuner(const GeneratorTool&, TuneOptions, Database&);
  // Trials of the same task that the database has already count, and are not repeated. std::runtime_error: the usual candidate
  // cannot be built or measured, with the reason.
  Result run();

  std::function<void(const Progress&, const Record&)> on_record = {};  // after each
  std::atomic<bool>* stop = nullptr;  // becomes true: the run ends after the candidate that it is at

 private:
  struct Work;
  const GeneratorTool& tool_;
  TuneOptions options_;
  Database& database_;
};

std::string machine_name();  // the processor's model, from /proc/cpuinfo

}  // namespace ashlar::tune
