// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Vectors at a border, moved inside (border.cpp).
#include <optional>

#include "lower/interior/interior.h"
#include "lower/interior/uniform_loads.h"

namespace ashlar::lowering {

// What a vectorized tile becomes where it does not lie wholly inside: the statements to run where `fits` holds. Nothing where
// the vector may not be moved, or would gain little.
struct Moved {
  Expr fits;
  std::vector<ir::KStmt> body;
};
struct Border {
  const std::vector<Around>& around;  // of the tile, outermost first
  ir::Kernel& kernel;                 // gives ids
};
// `slacks`: those of Interior; `inside`: its body where all of them are at least 0. `tail`: they say no more than that all
// lanes are there, so that nothing is left of the tile.
std::optional<Moved> moved_inside(const ir::KStmt& tile, const std::vector<Expr>& slacks, const std::vector<ir::KStmt>& inside,
                                  bool tail, const analysis::Facts&, const Border&);

}  // namespace ashlar::lowering
