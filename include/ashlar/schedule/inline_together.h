// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Inlines many stages at once: the same steps as one by one, but boxes are derived, and the program is proved and verified,
// only once, after the last one.
//
// For stages that are each read at their own points by the previous one, and have the same box: then no single step leaves
// anything to prove.
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedule {

// Returns false, and does nothing, if a step would be refused or does more than inline its stage. Inline the stages one by one
// to get the refusal.
bool inline_together(Schedule&, const std::vector<ir::Id>& stages, Where);

}  // namespace ashlar::schedule
