// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Nests that share a loop (fuse_siblings): each iteration of the loop runs one iteration of each nest.
//
//   nest A i [0, +N)
//     for i in N
//       block A
//       nest B beside i: j [i, +1)        iteration i has the point j = i of B
//
// A loop over the values of one dimension, or over tiles of them, covers `unit` values in each iteration. At the end of
// iteration x it has covered the values below begin + (x + 1) unit, or for a variable that descends, those from end - (x + 1)
// unit on.
#include <optional>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The dimension of a nest that an axis of it runs over in order: as a root, or as the outer axis of splits that neither skip
// nor repeat iterations. Empty for other axes.
struct Values {
  ir::Id iter = 0;
  Expr unit;
  bool descending = false;
};
std::optional<Values> values_of(const ir::Program&, const ir::Stmt& nest, ir::Id axis);

// The host of a nest that runs beside another nest's loop; null for other nests.
const ir::Stmt* host_of(const std::vector<const ir::Stmt*>& path);

}  // namespace ashlar::analysis
