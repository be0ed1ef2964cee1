// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Inlines many stages at once. The steps are the same as one by one, but boxes are derived and the program is proved and
// verified only once, after the last step.
//
// This is for stages with the same box, each read by the previous one at its own points, so that no single step leaves anything
// to prove.
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedule {

// Returns false and does nothing if a step would be refused or would do more than inline its stage. To get the refusal, inline
// the stages one by one.
bool inline_together(Schedule&, const std::vector<ir::Id>& stages, Where);

}  // namespace ashlar::schedule
