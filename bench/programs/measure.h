#pragma once
// One program: compiled without a schedule and by default, checked against the plain loops, and timed beside them.
#include <optional>
#include <string>
#include <vector>

#include "bench/programs/registry.h"

namespace bench::programs {

struct Options {
  double seconds = 1;  // that the rounds of a program take
  int threads = 1;     // more: the default schedule is timed on that many too
  std::string target = "host";
  bool text = false;    // keep what the scheduler says of its choices
  bool kernel = false;  // ... and the scheduled program with its kernel
};

struct Contender {
  std::string name;     // "default", "exact", "unscheduled", "gcc", …
  std::string skipped;  // why it has no time
  double median_ns = 0, min_ns = 0;
  double ratio = 0;  // the median over rounds of its time by that of the code that it is compared with; above 1: it is slower
};

struct Result {
  std::string area, name;
  std::string failed;  // refused, or results that differ: nothing was timed
  std::vector<Contender> contenders;
  // The fastest peer's time by ours: of unscheduled code and plain loops, and of plain loops with -ffast-math where regrouping
  // is allowed. Goals: 0.95 and 0.8.
  double exact_ratio = 0;
  std::optional<double> fast_ratio;
  std::string exact_peer, fast_peer;
  double schedule_ms = 0, code_ms = 0;  // of the default schedule: choosing it, and making code of it
  std::optional<double> on_threads;     // the time on one thread by the time on several
  std::string choices;

  const Contender* find(const std::string& contender) const;
  bool missed() const { return !failed.empty() || exact_ratio < exact_goal || (fast_ratio && *fast_ratio < fast_goal); }
  static constexpr double exact_goal = 0.95, fast_goal = 0.8;
};

Result measured(const Entry&, const Options&);

}  // namespace bench::programs
