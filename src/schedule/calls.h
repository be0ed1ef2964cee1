// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the calls of Stage and Schedule that make a step share; each stands in its primitive's file.
#include <ashlar/schedule/schedule.h>

#include "schedule/edit.h"
#include "schedule/state.h"

namespace ashlar::detail {

// Refused where it was consumed or its step was taken back. `what`: the call.
const ir::Stage& current_stage(const ScheduleState&, ir::Id stage, const char* what, Where);

}  // namespace ashlar::detail

namespace ashlar::schedule {

Arg index_map(const std::vector<Expr>& vars, const std::vector<Expr>& map);
const char* word(Tail);      // "guard"
const char* word(TileChip);  // "sm_90"

}  // namespace ashlar::schedule
