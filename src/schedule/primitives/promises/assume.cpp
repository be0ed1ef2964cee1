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

bool draw_assume(Draw& d) {
  std::vector<Expr> symbols;
  for (const auto& [id, symbol] : d.p.symbols) symbols.push_back(ir::var(id, symbol.name));
  if (symbols.empty() || d.p.assumptions.size() > 3) return false;
  const Expr n = d.any(symbols), m = d.any(symbols), c = ir::index(d.between(1, 9)), two = ir::index(2);
  const Expr conditions[] = {ir::eq(ir::mod(n, ir::index(d.factor())), ir::index(0)),
                             ir::ge(n, c),
                             ir::le(n, c),
                             ir::le(n, m),
                             ir::lt(ir::add(n, m), ir::mul(c, two)),
                             ir::logic_or(ir::eq(n, c), ir::le(n, two))};
  return d.step("assume", {Arg::map({}, {d.any(conditions)})});
}

}  // namespace

extern constexpr Primitive assume_primitive{
    .name = "assume",
    .spelling = "assume",
    .parameters = {takes::condition()},
    .traits = Traits{Reads::changed, Places::kept, Boxes::derived, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_assume,
    .cpp = of_schedule,
    .draw = Drawing{.often = 1, .draw = draw_assume},
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
