#pragma once
// The end of a schedule for a GPU, where every nest at the root must be a launch.
#include "steps.h"

namespace fuzz {

// Steps that would make a launch of the first nest at the root that has no loop bound: a loop of its points bound, or a loop of
// its reduction spread over threads (where sums may be regrouped). `attempt` counts those that were tried before; no steps:
// there is nothing left to try, or to do.
std::vector<ashlar::schedule::Step> bind_next(const Program&, std::size_t attempt, bool may_regroup);

// Steps that store in global memory what lies elsewhere.
std::vector<ashlar::schedule::Step> store_in_global(const Program&);

}  // namespace fuzz
