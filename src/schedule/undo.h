// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a step replaced, for taking it back without a copy made beforehand.
#include <ashlar/schedule/step.h>

namespace ashlar::schedule {

struct Undo {  // of the program that the step was applied to, the general one or a variant's
  ir::Program program;
  std::map<ir::Id, Consumed> consumed;
};
const std::vector<ir::Id>& apply(Scheduled&, Step, const Target&, Undo&);

}  // namespace ashlar::schedule
