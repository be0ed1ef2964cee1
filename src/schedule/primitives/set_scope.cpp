// set_scope(stage, scope): which memory the storage of a stage lies in. What a scope can hold (CAPACITY) is checked when the
// schedule is complete, at the line of this call.
#include "schedule/storage.h"

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_set_scope(Context& c) {
  const ir::Stage& stage = c.stage(0);
  c.word(1);
  const Scope scope = c.arg(1).scope;
  for (const Scope& s : {Scope::fragment, Scope::tile})
    if (scope == s)
      c.refuse("a scope of this target: global, stack, registers" + std::string(c.target.is_gpu() ? ", shared" : ""), s.name);
  if (scope == Scope::shared && !c.target.is_gpu()) c.refuse("a scope of this target: global, stack or registers", scope.name);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    b.scope = scope;
    b.where = c.step.where;
  }
}

}  // namespace ashlar::schedule
