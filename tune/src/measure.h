// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Runs a candidate in a process of its own: first to compare its results with the reference, then, if they are right, to time
// it beside the incumbent, the best candidate so far. What goes wrong there costs one outcome and nothing else.
//
// A round calls the two one after the other, each often enough to last a sample, in an order that changes from round to round.
// What counts is the ratio of the two times of a round: what slows the machine down for a while slows both.
#include <filesystem>
#include <string>

#include "tune/src/problem.h"

namespace ashlar::tune {

struct MeasureOptions {
  int threads = 1;               // of the kernel; one: CPU time of the thread, several: time on the clock
  double seconds = 0.5;          // of timing, at most
  double sample = 2e-3;          // seconds that one sample lasts at least
  bool ends_early = true;        // where it is known which one is faster
  bool cold = false;             // the caches are filled with something else before each call
  double limit = 20;             // a candidate that takes longer is ended
  std::size_t megabytes = 4096;  // that a candidate may have beyond the tensors
};

struct Timing {
  double seconds = 0;        // of one call of the candidate: the median
  double incumbent = 0;      // of one call of the incumbent
  double ratio = 1;          // candidate / incumbent: the median of the rounds
  double low = 1, high = 1;  // the ratio's median lies in between, with a confidence of about 95 %
  int rounds = 0;
};

struct Outcome {
  enum class Status { measured, wrong, crashed, timed_out, failed } status = Status::failed;
  std::string why;  // of all but `measured`
  Timing timing;
};
const char* name_of(Outcome::Status);

// `incumbent` may be empty: then the candidate is timed alone.
Outcome measure(const Problem&, const std::filesystem::path& candidate, const std::filesystem::path& incumbent,
                const MeasureOptions&);

// Computes the results that candidates are compared with; empty, or why that cannot be done.
std::string compute_reference(const Problem&, const std::filesystem::path& library, const MeasureOptions&);

// The descriptor of a candidate's library, which stays loaded. std::runtime_error: it cannot be loaded.
const ashlar_abi1_desc& load(const std::filesystem::path& library);

}  // namespace ashlar::tune
