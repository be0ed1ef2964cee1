// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions whose steps update memory atomically, and the operators that such updates need.
//
//   counts[x[n]] += 1          add          best[i] = max(best[i], v)          max
#include <optional>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The operator op with combine(acc, x) = op(acc, x), if it exists as an atomic update: add, min, max, bit_and, bit_or, bit_xor.
// Empty for other combiners, for combiners of several components, and for sums that accumulate by fma.
std::optional<ir::Op> atomic_operator(const ir::Stage&);

}  // namespace ashlar::analysis
