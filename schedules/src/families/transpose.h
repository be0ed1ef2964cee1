// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of transpose.h.
#include <ashlar/schedules/transpose.h>

#include <ashlar/instructions/shuffles.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

// The dimension of the stage along which its source has neighbors, or why there is none.
int neighbors_of(const char* family, const Schedule& s, const Stage& stage, Where where);

}  // namespace ashlar::schedules::detail
