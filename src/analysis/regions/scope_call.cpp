// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/scope_call.h>

namespace ashlar::analysis {

// The call that made a cache stands at its allocation; store_in gives the buffer a place of its own. Steps that are replayed
// from a trace stand at one place: of a cache, the call that made it is named.
const char* scope_call(const ir::Program& p, const ir::Buffer& b) {
  const auto stage = p.stages.find(b.stage);
  const ir::Stmt* alloc = ir::alloc_of(p, b.id);
  const bool made_there = alloc && alloc->where.line() == b.where.line() && alloc->where.column() == b.where.column();
  if (stage == p.stages.end() || !made_there) return "store_in";
  switch (stage->second.origin) {
    case ir::Stage::Origin::cache_read:
      return "cache_read";
    case ir::Stage::Origin::cache_write:
      return "cache_write";
    default:
      return "store_in";
  }
}

}  // namespace ashlar::analysis
