// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a prefetch asks for: the address that the first reader below its loop will read.
#include <optional>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct PlainRead {
  std::vector<const ir::Stmt*> path;  // from the loop on, down to the block that reads
  const ir::Node* load = nullptr;
};
// Of the blocks below the loop the first that reads the buffer at an index that no table gives, neither itself nor by the
// bounds of the loops inside: reading those ahead might read where there is nothing.
std::optional<PlainRead> first_plain_read(const ir::Program&, const ir::Stmt& loop, ir::Id buffer);

}  // namespace ashlar::analysis
