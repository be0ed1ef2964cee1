// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Data arithmetic in an index that may wrap, so that only the bounds of its type hold, not those of exact arithmetic.
#include <string>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// The first such part and what to write instead, as the end of a refusal's sentence; empty if there is none.
//
//   wraps_where(index(k - 1), {})    ", where k - 1u8 may wrap in u8 (convert before: i32(x))"
std::string wraps_where(const Expr& index, const Facts&);

}  // namespace ashlar::analysis
