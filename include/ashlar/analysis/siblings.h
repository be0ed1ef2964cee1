// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Nests that share a loop (fuse_siblings): each iteration of the loop runs one iteration of each nest.
//
//   nest A i [0, +N)
//     for i in N
//       block A
//       nest B beside i: j [i, +1)        iteration i has the point j = i of B
//
// A loop over the values of one dimension, or over tiles of them, passes over `unit` values an iteration; what it has passed
// over at the end of iteration x are the values below begin + (x + 1) unit, or, of a variable that descends, those from
// end - (x + 1) unit on.
#include <optional>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The dimension of a nest that an axis of it runs over, in its order: as a root, or as the outer axis of splits that leave no
// iteration out and repeat none. Nothing of other axes.
struct Values {
  ir::Id iter = 0;
  Expr unit;
  bool descending = false;
};
std::optional<Values> values_of(const ir::Program&, const ir::Stmt& nest, ir::Id axis);

// The nest around one that is beside another's loop; null for other nests.
const ir::Stmt* host_of(const std::vector<const ir::Stmt*>& path);

}  // namespace ashlar::analysis
