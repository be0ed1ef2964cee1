// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Which loop a handle means in a program as it stands: behind Stage::spatial, reduction, copy and loops, and behind the text
// that names loops by these calls.
#include <optional>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::schedule {

// The first loop over an axis of a nest; an init that was taken out has loops of its own over the axes it shares.
ir::Id loop_over(const ir::Stmt& nest, ir::Id axis, bool of_init);
// Those over the spatial or reduction variables of a stage in the order of its definition, of its first nest; `became`: one was
// split or fused and is not a loop any more, and which.
struct RootLoops {
  std::vector<ir::Id> loops;
  ir::Id became = 0;  // an axis
};
RootLoops root_loops(const ir::Program&, const ir::Stage&, bool reduce, bool of_init);
// Of a loop, its copy in the loop that peel or partition made, or that loop itself; 0: it has none there.
ir::Id copy_inside(const ir::Stmt& peeled, ir::Id of);
std::vector<ir::Id> all_loops(const ir::Program&, ir::Id stage);  // of all its nests, as they stand, outermost first

}  // namespace ashlar::schedule
