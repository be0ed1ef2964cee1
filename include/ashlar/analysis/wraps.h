// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where data arithmetic in an index may wrap, so that only the bounds of its type hold, and not those of exact arithmetic.
#include <string>

#include <ashlar/analysis/facts.h>

namespace ashlar::analysis {

// The first such part, and what to write instead, as the end of a refusal's sentence; nothing where there is none.
//
//   wraps_where(index(k - 1), {})    ", where k - 1u8 may wrap in u8 (convert before: i32(x))"
std::string wraps_where(const Expr& index, const Facts&);

}  // namespace ashlar::analysis
