// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of reduction.h.
#include <ashlar/schedules/reduction.h>

#include <ashlar/analysis/regions.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

// Does the last index of some read belong to a spatial dimension? Then neighbors in memory belong to neighboring results.
bool reduces_columns(const Schedule& s, const Stage& stage);

void reduce_columns(Schedule& s, const Stage& stage, const ReductionOptions& o, Where where);

}  // namespace ashlar::schedules::detail
