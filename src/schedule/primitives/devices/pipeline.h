// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What pipelines and double buffers share.
#include "schedule/primitives/draw.h"

namespace ashlar::schedule {

struct Load {
  Id loop, stage;
  std::vector<Id> others;  // of the same loop
};
std::optional<Load> draw_load(Draw&);

}  // namespace ashlar::schedule
