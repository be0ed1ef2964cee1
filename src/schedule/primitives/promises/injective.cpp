// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// injective(table): no two elements of an input of integers are equal, says who knows. Steps of a scatter that choose their
// element by it never meet, so they may run at once without atomic updates.
//
//   for i in N                                          s.injective(order);
//     out[order[i]] += x[i]               ->            parallel(i) is proved
//
// Nothing is rewritten. The interpreter checks the promise at entry; compiled code relies on it, as on in_range.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_injective(Context& c) {
  // match
  ir::Buffer& b = c.buffer(0);
  if (b.role != ir::Role::input) c.refuse("an input", b.name + (b.stage ? ", which a stage computes" : ", which is none"));
  if (b.type.is_float() || b.type.is_bool()) c.refuse("a table of integers", b.name + " of " + ir::text(b.type));
  // rewrite
  b.injective = true;
}

}  // namespace

extern constexpr Primitive injective_primitive{
    .name = "injective",
    .spelling = "injective",
    .parameters = {takes::tensor()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::changed, Gives::nothing},
    .apply = apply_injective,
    .cpp = of_schedule,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

void Schedule::injective(const Tensor& table, Where w) {
  Stage(0, state_).apply(schedule::injective_primitive, {Arg::buffer(Stage::buffer_of(*state_, table, "injective", w))}, w);
}

}  // namespace ashlar
