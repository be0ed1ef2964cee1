// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// set_scope(stage, scope): which memory the storage of a stage lies in. What a scope can hold (CAPACITY) is checked when the
// schedule is complete, at the line of this call.
#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void require_scope(const Context& c, const Scope& scope) {
  const bool gpu = c.target.is_gpu(), warps = gpu && c.target.device().warp > 1;
  const std::string scopes =
      std::string("a scope of this target: global, stack, registers") + (gpu ? ", shared" : "") + (warps ? ", fragment" : "");
  if (scope == Scope::tile || (scope == Scope::fragment && !warps))
    c.refuse(scopes,
             scope.name + (scope == Scope::fragment ? " on " + std::string(c.target.text()) + ", which promises no warps"
                                                    : std::string()));
  if (scope == Scope::shared && !gpu) c.refuse("a scope of this target: global, stack or registers", scope.name);
}

void apply_set_scope(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const Scope scope = c.scope(1);
  require_scope(c, scope);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    b.scope = scope;
    b.where = c.step.where;
  }
}

}  // namespace ashlar::schedule
