// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Handles to the stages and tensors of a schedule by their ids. For code that schedules arbitrary programs: it has no Tensor
// objects, but finds stages and buffers in `s.scheduled().program`.
//
//   for (Stage stage : stages(s)) ...                                consumers first
//   s.cache_read(tensor_of(s, buffer), {stage_of(s, reader)}, Scope::stack)
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar {

// Refused: an id that does not name a stage (or buffer) of the current program.
Stage stage_of(Schedule&, ir::Id stage, Where = Where::current());
Tensor tensor_of(Schedule&, ir::Id buffer, Where = Where::current());
std::vector<Stage> stages(Schedule&, Where = Where::current());

// A stage with what one reader reads of the source, by the reader's own variables: x_terms[i, k] = x[2 * i + k]. Then the
// elements of a tile of the reader are a tile too, for tensorize and Scope::fragment, however far apart they are in the source.
// The reader has one read of the source, whose indices do not depend on data. An index that is a sum of multiples of variables
// becomes these variables; any other stays as it is.
Stage cache_terms(Schedule&, const Tensor& source, const Stage& reader, Scope, Where = Where::current());
Stage cache_terms(Schedule&, const Stage& source, const Stage& reader, Scope, Where = Where::current());

}  // namespace ashlar
