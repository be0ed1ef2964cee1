// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assume(condition): what every call keeps, said by who knows. Proofs of this step's successors may use it; the entry checks it
// and refuses, by its text, a call that breaks it.
//
//   s.assume(N % 16 == 0);        split(j, 16, Tail::exact) is proved
//
// Nothing is rewritten: the program is another one, whose callers promise more.
#include "schedule/legality/legality.h"
#include <ashlar/lang/build_program.h>

#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_assume(Context& c) {
  // match; prove: only that some call can keep it
  const Expr condition = condition_over_symbols(c);
  // rewrite
  c.p.assumptions.push_back(condition);
}

}  // namespace

extern constexpr Primitive assume_primitive{
    .name = "assume",
    .spelling = "assume",
    .parameters = {takes::condition()},
    .traits = Traits{Reads::changed, Places::kept, Boxes::derived, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_assume,
    .cpp = of_schedule,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

void Schedule::assume(Operand condition, Where w) {
  if (condition.is_number() || !condition.expr().type().is_bool())
    refuse("assume", "a condition over symbols, such as M <= N", "no condition", w);
  lang::Built names;
  names.variable_of = state_->variable_of;
  Stage(0, state_).apply(schedule::assume_primitive, {Arg::map({}, {names.in_program(condition.expr(), w)})}, w);
}

}  // namespace ashlar
