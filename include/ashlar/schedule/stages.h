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

}  // namespace ashlar
