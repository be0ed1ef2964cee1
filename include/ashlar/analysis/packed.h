// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The storage of an argument that the caller packs, or of a constant that the compiler packs (pack_argument).
#include <cstddef>
#include <map>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The extents of the stored dimensions, over symbols: bounds of the layout's coordinates. They follow only from the declared
// facts of the symbols, not from conditions of a schedule or a variant, because all variants, the header that packs, and the
// interpreter share the argument.
//
//   a: [N, 3], N at most 5, (r, c) -> (r / 4, c, r % 4)      (N - 1) / 4 + 1, 3, 4
std::vector<Expr> packed_extents(const std::map<ir::Id, ir::Symbol>&, const ir::Buffer&);

// The elements of a constant in its layout, which maps each to a different place; zero where there is no element. Without a
// layout, the constant's own bytes.
//
//   w: {{1, 2, 3}, {4, 5, 6}}, (r, c) -> (c / 2, r, c % 2)      1 2 4 5 3 0 6 0
std::vector<std::byte> packed_data(const ir::Buffer&);

}  // namespace ashlar::analysis
