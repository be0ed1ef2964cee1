// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What ashlar-tune found, as a generator takes it (--tuned FILE): parameters and choices for the algorithm and target at hand.
//
// A record is found by a hash of what is computed. An algorithm that was changed has none; one whose tensors or indices were
// renamed has it still, but choices that are called after stages are lost. What a record decides is proved like any other
// schedule.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/schedule/schedule.h>
#include <ashlar/target/target.h>

#include "generator/target_params.h"

namespace ashlar::generator {

struct Tuned {
  Params parameters;
  std::vector<Decision> decisions;
  double ratio = 1;            // of the time to that of the usual schedule, when it was measured
  std::string sizes, machine;  // "M=512, N=512"
};

// The fastest record for an algorithm and a target. Of records for several sizes the one nearest to `sizes`; where these are
// not given, the one for the largest. UsageError names a line that is not a record of ashlar-tune.
std::optional<Tuned> find_tuned(const std::string& text, const std::string& file, const std::string& algorithm, const Target&,
                                const std::vector<std::pair<std::string, std::int64_t>>& sizes);

}  // namespace ashlar::generator
