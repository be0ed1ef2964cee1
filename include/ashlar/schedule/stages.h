// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Handles to the stages and tensors of a schedule by their ids, for what schedules programs that it did not write: a user has
// the tensors, a function over any program has `s.scheduled().program`, whose stages and buffers are found by id.
//
//   for (Stage stage : stages(s)) ...                                consumers first
//   s.cache_read(tensor_of(s, buffer), {stage_of(s, reader)}, Scope::stack)
#include <vector>

#include <ashlar/schedule/schedule.h>

namespace ashlar {

// Refused: an id that is no stage (no buffer) of the program as it stands.
Stage stage_of(Schedule&, ir::Id stage, Where = Where::current());
Tensor tensor_of(Schedule&, ir::Id buffer, Where = Where::current());
std::vector<Stage> stages(Schedule&, Where = Where::current());

}  // namespace ashlar
