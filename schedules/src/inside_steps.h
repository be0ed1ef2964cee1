// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions inside of the steps of a recurrence: what their schedules ask about them.
#include <optional>

#include "schedules/src/draft.h"

namespace ashlar::schedules {

// Does the variable move the last index of reads, by one, and no other index?
bool only_along(const ir::Program&, const ir::Stage&, Id variable);
// Is the stage read by the recurrence at this variable, in this dimension, wherever it is read?
bool follows(const ir::Stage& recurrence, Id variable, const ir::Stage&, std::size_t dim);
// Does a step compute one point of this dimension: that of the step, or of the one before?
bool one_point(const Draft&, const ir::Stage&, Id variable);

// Where a step is short and waits for sums in the one before: the steps of several rows side by side, groups of rows on the
// pool. Returns false, and changes nothing, where it is not, or there are no rows.
bool rows_of_steps(Draft&, Id recurrence);
// For a reduction of one point a step whose terms end at the step: sums the terms before a block of steps in lanes, for all
// points of the block. Returns false, and changes nothing, if the reduction has another form or the cut is refused.
bool sums_ahead(Draft&, Id recurrence, Id reduction);

// For a reduction over rows of a matrix that no step changes: a copy of it that lies as the tile reads it. Returns false, and
// changes nothing, if there is no such matrix.
bool turn_matrix(Draft&, Id recurrence, Id reduction, const Tile&);

}  // namespace ashlar::schedules
