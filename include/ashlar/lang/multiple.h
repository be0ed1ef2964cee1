// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What an extent is a multiple of, as far as its form and the facts of its Symbols show.
//
//   Symbol N{"N", {.multiple_of = 16}};
//   is_multiple(N * 3 + 8, 8)             // true;  is_multiple(N, 32): false, it may not be
#include <cstdint>

#include <ashlar/lang/expr.h>

namespace ashlar {

bool is_multiple(const Expr&, std::int64_t of);  // of at least 1

}  // namespace ashlar
