// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages inside of recurrences (ir/recurrence.h) stay between the steps.
#include "schedule/edit.h"

namespace ashlar::schedule {

void prove_inside(Context&, const Stmt& nest, Id recurrence);

}  // namespace ashlar::schedule
