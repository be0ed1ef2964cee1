// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions whose steps combine in memory: which of them a machine's memory can do in one indivisible step.
//
//   counts[x[n]] += 1          add          best[i] = max(best[i], v)          max
#include <optional>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The operator op with combine(acc, x) = op(acc, x), of those that memory has: add, min, max, bit_and, bit_or, bit_xor. Nothing
// for other combiners, for those of several components, and for sums that accumulate by fma.
std::optional<ir::Op> atomic_operator(const ir::Stage&);

}  // namespace ashlar::analysis
