// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a schedule loses most by on a processor, for people who read no further than the first lines of explain().
//
//   worst first
//     1. C: 33.55 MB stored beyond L1 for 1000 kB of results; cache_write(C, Scope::registers) keeps sums until they are whole
//     2. C: one element at a time, where a register holds 8 of f32
#include <string>
#include <vector>

#include <ashlar/target/target.h>

#include "report/stage_figures.h"

namespace ashlar::report {

struct Loss {
  double cost = 0;  // in instructions on vectors, about: a scale to rank by, not a time
  std::string text;
};

// The worst first. Nothing that costs less than a tenth of what the stages do at best is in it.
//   one element at a time   operations, less those of full vectors
//   lanes that are not used
//   points computed again
//   bytes that pass a cache beyond those that are touched
std::vector<Loss> losses(const ir::Program&, const Target&, const std::vector<StageFigures>&);

}  // namespace ashlar::report
