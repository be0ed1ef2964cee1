// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of rows.h.
#include <ashlar/schedules/rows.h>

#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

// How many dimensions of the result count rows. A reduction has those, and may keep the others with the extent 1.
int rows_of(const Schedule& s, const std::vector<Stage>& stages, Where where);

}  // namespace ashlar::schedules::detail
