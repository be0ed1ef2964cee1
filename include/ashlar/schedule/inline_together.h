// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Many stages inlined at once: as many steps as stages, with what each would have made, but derived, proved and verified once,
// when all of them are in their readers.
//
// For stages of which each is read at its own points by the one before it, whose box it has: then each step by itself leaves
// nothing to prove.
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedule {

// False, and nothing done: a step would be refused, or does more than to inline its stage; one by one, they tell which and why.
bool inline_together(Schedule&, const std::vector<ir::Id>& stages, Where);

}  // namespace ashlar::schedule
