// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What indices promise: in_range(x, lo, hi) is x, and says that lo <= x < hi wherever it is evaluated.
#include <ashlar/ir/build.h>

namespace ashlar::analysis {

// The same with x in the place of each: for boxes and sizes, which are evaluated also where there is no reader that promises.
Expr without_promises(const Expr&);

}  // namespace ashlar::analysis
