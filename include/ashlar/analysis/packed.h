// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// An argument in a layout of the caller's, or a constant in one of the compiler's (pack_argument): how much room it takes.
#include <cstddef>
#include <map>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The extents of the stored dimensions, over symbols: bounds of the layout's coordinates. They follow from what is declared of
// the symbols and from nothing that schedules or their variants rely on, since all of them, the header that packs and the
// interpreter speak of one argument.
//
//   a: [N, 3], N at most 5, (r, c) -> (r / 4, c, r % 4)      (N - 1) / 4 + 1, 3, 4
std::vector<Expr> packed_extents(const std::map<ir::Id, ir::Symbol>&, const ir::Buffer&);

// The elements of a constant as they lie by its layout, which sends each to a place of its own; zero where none lies. Without a
// layout its own bytes.
//
//   w: {{1, 2, 3}, {4, 5, 6}}, (r, c) -> (c / 2, r, c % 2)      1 2 4 5 3 0 6 0
std::vector<std::byte> packed_data(const ir::Buffer&);

}  // namespace ashlar::analysis
