// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Recurrences and scatters, whose points depend on one another, for targets with tiles (docs/tiles.md).
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules::detail {

// A recurrence along one dimension: blocks take the other ones. Its steps follow one another, with a tile of the last other
// dimension each; or, where it is a scan along the last dimension and `regroup` permits it, a tile of steps is scanned at once.
void tile_steps(Schedule& s, const Stage& stage, bool regroup, Where where);

// A scatter: tiles of starting values, then tiles of steps that combine in memory.
void tile_updates(const Schedule& s, const Stage& stage, Where where);

}  // namespace ashlar::schedules::detail
