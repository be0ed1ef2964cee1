// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <map>
#include <optional>
#include <vector>

#include <ashlar/analysis/interval.h>

#include "lower/nodes.h"

namespace ashlar::lowering {

// The iterations of a loop over parts of a reduction whose part may be something else than the reducer's identity, the same for
// all threads of a block; at least one if `all` has any. Empty if no other iteration is known. The path ends with the loop;
// `single`: variables of loops around that run once.
std::optional<ir::LoopRange> busy_iterations(const Program&, const std::vector<const Stmt*>& path, const ir::LoopRange& all,
                                             const ir::Substitution& single, const Facts&);

}  // namespace ashlar::lowering
