// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Promises about indices: in_range(x, lo, hi) has the value x, and states that lo <= x < hi wherever it is evaluated.
#include <ashlar/ir/build.h>

namespace ashlar::analysis {

// The same with each in_range(x, lo, hi) replaced by x: for boxes and sizes, which are also evaluated where no promise holds.
Expr without_promises(const Expr&);

}  // namespace ashlar::analysis
