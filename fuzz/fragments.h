#pragma once
// Schedules of a product in fragments, as a warp's matrix instructions want them: tiles of random sizes in shared memory or
// straight from global, permuted or not, in one buffer or several, fragments filled by lanes or by an instruction.
#include <vector>

#include <ashlar/schedule/step.h>

#include "program.h"

namespace fuzz {

// As far as they are legal. Empty where the target has no such instruction for the types.
std::vector<ashlar::schedule::Step> fragment_steps(Source&, const Made&, const ashlar::Target&);

}  // namespace fuzz
