// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The address of a prefetch: that of the first reader below its loop.
#include <optional>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct PlainRead {
  std::vector<const ir::Stmt*> path;  // from the loop on, down to the block that reads
  const ir::Node* load = nullptr;
};
// The first block below the loop that reads the buffer at an index that does not come from a table, directly or through the
// bounds of inner loops. Reading a table ahead could read out of bounds.
std::optional<PlainRead> first_plain_read(const ir::Program&, const ir::Stmt& loop, ir::Id buffer);

}  // namespace ashlar::analysis
