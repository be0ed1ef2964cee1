// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Queries about reductions inside the steps of a recurrence, and schedules of them.
#include <optional>

#include "schedules/src/draft.h"

namespace ashlar::schedules {

// Whether the variable moves the last index of reads by one, and no other index.
bool only_along(const ir::Program&, const ir::Stage&, Id variable);
// Whether every read of the stage by the recurrence is at this variable in this dimension.
bool follows(const ir::Stage& recurrence, Id variable, const ir::Stage&, std::size_t dim);
// Whether a step computes one point of this dimension: that of the step or of the previous one.
bool one_point(const Draft&, const ir::Stage&, Id variable);

// If a step is short and waits for sums of the previous one: interleaves the steps of several rows, with groups of rows on the
// thread pool. Returns false, and changes nothing, if it is not or if there are no rows.
bool rows_of_steps(Draft&, Id recurrence);
// For a reduction with one point for each step whose terms end at the step: sums the terms before a block of steps in lanes,
// for all points of the block. Returns false, and changes nothing, if the reduction has another form or the cut is refused.
bool sums_ahead(Draft&, Id recurrence, Id reduction);

// For a reduction over rows of a matrix that no step changes: copies it in the order in which the tile reads it. Returns false,
// and changes nothing, if there is no such matrix.
bool turn_matrix(Draft&, Id recurrence, Id reduction, const Tile&);

}  // namespace ashlar::schedules
