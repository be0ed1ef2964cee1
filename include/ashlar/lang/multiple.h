// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Divisibility of extents, as shown by their form and the facts of their Symbols.
//
//   Symbol N{"N", {.multiple_of = 16}};
//   is_multiple(N * 3 + 8, 8)             // true. is_multiple(N, 32) is false: some N are not multiples of 32
#include <cstdint>

#include <ashlar/lang/expr.h>

namespace ashlar {

bool is_multiple(const Expr&, std::int64_t of);  // `of` is at least 1

}  // namespace ashlar
