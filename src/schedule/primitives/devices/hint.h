// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What hints about launches and about accesses share.
#include "schedule/edit.h"

namespace ashlar::schedule {

inline constexpr const char* chips_of_tiles = "any sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121";

// Checks what a hint says of a chip and of the target at hand, and that the stage has a launch of its own; adds it to the
// program, in the place of an earlier one of the same kind.
void add_hint(Context&, const ir::Stage&, ir::HintKind, Id buffer, std::int64_t value, const std::string& chip);

}  // namespace ashlar::schedule
