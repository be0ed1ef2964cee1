// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Which variables and buffers a region of statements needs from outside.
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

struct Uses {
  std::set<ir::Id> vars;     // read but not bound inside
  std::set<ir::Id> buffers;  // read or written; tensor maps that calls take
};

// A prefetch is a hint: where it is ignored, what only prefetches use is not used.
enum class Prefetches { counted, ignored };
Uses uses_of(const std::vector<ir::KStmt>&, Prefetches = Prefetches::counted);

// Whether the function that executes `region` must hold the storage of a stack buffer: it is used outside parallel loops, or by
// several that its alloc does not stand inside of. Parallel loops are functions of their own when `outlines` is set.
bool used_here(const std::vector<ir::KStmt>& region, const ir::KBuffer& buffer, bool outlines);

// First elements and lanes of the accesses to a register buffer.
std::set<std::pair<std::int64_t, int>> constant_accesses(const std::vector<ir::KStmt>& region, ir::Id buffer);

}  // namespace ashlar::codegen
