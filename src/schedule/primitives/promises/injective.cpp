// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// injective(table): no two elements of an input of integers are equal, says who knows. Steps of a scatter that choose their
// element by it never meet, so they may run at once without atomic updates.
//
//   for i in N                                          s.injective(order);
//     out[order[i]] += x[i]               ->            parallel(i) is proved
//
// Nothing is rewritten. The interpreter checks the promise at entry; compiled code relies on it, as on in_range.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_injective(Context& c) {
  // match
  ir::Buffer& b = c.buffer(0);
  if (b.role != ir::Role::input) c.refuse("an input", b.name + (b.stage ? ", which a stage computes" : ", which is not one"));
  if (b.type.is_float() || b.type.is_bool()) c.refuse("a table of integers", b.name + " of " + ir::text(b.type));
  // rewrite
  b.injective = true;
}

// Does its elements, as they are, say where a scatter stores?
bool chooses(const ir::Stage& stage, Id buffer) {
  return std::any_of(stage.targets.begin(), stage.targets.end(), [&](const Expr& e) {
    bool found = false;
    ir::walk(e, [&](const Expr& y) { return found |= ir::is(y, ir::Op::load) && y.node()->id == buffer, !found; });
    return found;
  });
}

// And often what it is good for: steps of a scatter at once.
bool draw_injective(Draw& d) {
  std::vector<Id> inputs, tables;
  for (const auto& [id, b] : d.p.buffers) {
    if (b.role != ir::Role::input && !d.one_in(16)) continue;
    inputs.push_back(id);
    for (const auto& [of, stage] : d.p.stages)
      if (chooses(stage, id) && (tables.empty() || tables.back() != id)) tables.push_back(id);
  }
  if (inputs.empty()) return false;
  const Id table = d.any(tables.empty() || d.one_in(4) ? inputs : tables);
  d.step("injective", {Arg::buffer(table)});
  std::vector<const Stmt*> steps;
  for (const auto& [id, stage] : d.p.stages)
    for (const Stmt* l : chooses(stage, table) ? loops_of(d.p, id) : std::vector<const Stmt*>())
      if (d.p.axis(l->get<LoopStmt>().axis).reduce) steps.push_back(l);
  return steps.empty() || d.one_in(4) || d.step("parallel", {Arg::loop(d.any(steps)->id)});
}

}  // namespace

extern constexpr Primitive injective_primitive{
    .name = "injective",
    .spelling = "injective",
    .parameters = {takes::tensor()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::changed, Gives::nothing},
    .apply = apply_injective,
    .cpp = of_schedule,
    .draw = Drawing{.often = 1, .draw = draw_injective},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

void Schedule::injective(const Tensor& table, Where w) {
  Stage(0, state_).apply(schedule::injective_primitive, {Arg::buffer(Stage::buffer_of(*state_, table, "injective", w))}, w);
}

}  // namespace ashlar
