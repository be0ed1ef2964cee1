// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// set_scope(stage, scope): which memory the storage of a stage lies in. What a scope can hold (CAPACITY) is checked when the
// schedule is complete, at the line of this call.
#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
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

namespace {

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

// What lies in the shared memory of a device is computed for all its threads.
Traits traits_of_scope(const Context& c) {
  return c.target.is_gpu() ? Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing}
                           : Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing};
}

bool draw_set_scope(Draw& d) {
  static constexpr const Scope* scopes[] = {&Scope::global, &Scope::stack, &Scope::registers};
  if (!d.launch) return d.step("set_scope", {Arg::stage(d.temporary()), Arg::place(*d.any(scopes))});
  const std::vector<Id> stages = stored_stages(d.p);
  const Scope& scope = d.pick(9) < 7 ? Scope::shared : Scope::registers;
  return !stages.empty() && d.step("set_scope", {Arg::stage(d.any(stages)), Arg::place(scope)});
}

}  // namespace

extern constexpr Primitive set_scope_primitive{
    .name = "set_scope",
    .spelling = "store_in",
    .parameters = {takes::stage(), takes::scope()},
    .traits = traits_of_scope,
    .apply = apply_set_scope,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .in_launches = 3, .draw = draw_set_scope},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::store_in(Scope scope, Where w) const {
  return done(schedule::set_scope_primitive, {Arg::stage(id_), Arg::place(scope)}, w);
}

}  // namespace ashlar
