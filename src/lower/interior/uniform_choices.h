// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Conditions that are the same for all points of a tile and that its loads have in their masks: decided around the tile, so
// that what is inside has no masks of them.
//
//   for x in [0, +8) vectorized                                     if t < 1
//     u[...] = select(t < 1, start[... where t < 1],                  for x ...  u[...] = start[...]
//                            2 * u[... where !(t < 1)])     ->      else
//                                                                     for x ...  u[...] = 2 * u[...]
//
// The guards pass then moves the condition outwards, to the loop over t.
#include <optional>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/ir/kernel.h>

#include "lower/replacing.h"

namespace ashlar::lowering {

struct UniformChoice {
  Expr condition;
  Replacements holds;                 // what is known of the tile's conditions where it holds
  std::optional<Replacements> fails;  // and where not; nothing: the tile stays as it is there
};
std::optional<UniformChoice> uniform_choice(const ir::KStmt& tile, const analysis::Facts&);

}  // namespace ashlar::lowering
