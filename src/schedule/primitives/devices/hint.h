// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Common to hints about launches and hints about accesses.
#include "schedule/edit.h"

namespace ashlar::schedule {

inline constexpr const char* chips_of_tiles = "any sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121";

// Checks that the chip and the target accept the hint and that the stage has a launch of its own. Then adds the hint to the
// program, where it replaces an earlier one of the same kind.
void add_hint(Context&, const ir::Stage&, ir::HintKind, Id buffer, std::int64_t value, const std::string& chip);

}  // namespace ashlar::schedule
