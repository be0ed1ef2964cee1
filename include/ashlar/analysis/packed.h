#pragma once
// An argument in a layout of the caller's (pack_argument): how much room it takes.
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

}  // namespace ashlar::analysis
