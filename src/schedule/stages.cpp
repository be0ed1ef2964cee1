// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedule/stages.h>

#include <ashlar/analysis/regions.h>

#include "schedule/state.h"

namespace ashlar {

// A schedule knows buffers by the tensors of the language; what a step made gets one here.
Tensor tensor_of(Schedule& s, ir::Id buffer, Where where) {
  detail::ScheduleState& state = detail::ScheduleState::of(s);
  if (!state.scheduled.program.buffers.count(buffer))
    refuse("tensor_of", "the id of a buffer of this schedule", std::to_string(buffer), where);
  for (const auto& [tensor, b] : state.buffer_of)
    if (b == buffer) return detail::Access::tensor(tensor);
  const ir::Id tensor = ir::fresh_id();
  state.buffer_of.emplace(tensor, buffer);
  return detail::Access::tensor(tensor);
}

// Every stage writes a buffer of its own.
Stage stage_of(Schedule& s, ir::Id stage, Where where) {
  const ir::Program& p = s.scheduled().program;
  const auto at = p.stages.find(stage);
  if (at == p.stages.end()) refuse("stage_of", "the id of a stage of this schedule", std::to_string(stage), where);
  return s[TensorAt(tensor_of(s, at->second.buffers.front(), where), where)];
}

std::vector<Stage> stages(Schedule& s, Where where) {
  std::vector<Stage> all;
  for (const ir::Id id : analysis::consumers_first(s.scheduled().program)) all.push_back(stage_of(s, id, where));
  return all;
}

}  // namespace ashlar
