// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Programs that the tuner runs: what they print, how they end, and an end for those that do not end by themselves.
#include <string>
#include <vector>

namespace ashlar::tune {

struct Ran {
  int code = -1;           // of its exit; -1: it did not exit
  int signal = 0;          // that ended it
  bool timed_out = false;  // it, and all that it started, was ended after `seconds`
  std::string out, err;
  double cpu_seconds = 0;
};

// Runs a program in a process group of its own. std::system_error: it cannot be started.
Ran run_process(const std::vector<std::string>& command, double seconds);

}  // namespace ashlar::tune
