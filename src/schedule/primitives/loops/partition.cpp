// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// partition(loop, at): the iterations below a point and those from it on get loops of their own, one behind the other.
//
//   for y in H                       for y to H - 1 of H
//     body                  ->         body
//                                    for y from H - 1 of H
//                                      body (copy)
//
// `at` counts iterations from 0, over symbols; where it is past the end the second loop is empty. That one may be cut again,
// further on. The loops share their axis: conditions on it, such as the clamp of a stencil at its edge, are decided in each of
// them.
#include "schedule/legality/legality.h"
#include <ashlar/lang/build_program.h>

#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_partition(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  LoopStmt& l = loop.get<LoopStmt>();
  require_serial(c, loop);
  const bool again = l.part == ir::Part::above;
  if (!again) require_whole(c, loop);
  require_no_slide(c, loop);
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const Expr at = analysis::simplify(over_symbols(c, c.arg(1).exprs.front(), "a point"), facts);
  // prove: the iterations stay in their order; only that the point is one, and comes after the first
  if (const auto proof = analysis::prove(ir::ge(at, ir::index(0)), facts); !proof)
    c.unproved(Obligation::cover, "a point of " + name_of(c.p, loop) + " of at least 0 (max(at, 0), or a Symbol with min)",
               ir::text(at), proof.why);
  if (again)
    if (const auto proof = analysis::prove(ir::ge(at, l.from), facts); !proof)
      c.unproved(Obligation::cover,
                 "a point of " + name_of(c.p, loop) + " of at least " + ir::text(l.from) +
                     ", where it begins (max of both, or a Symbol with min)",
                 ir::text(at), proof.why);
  // rewrite
  Stmt copy = copy_subtree(c.p, loop);
  LoopStmt& copy_loop = copy.get<LoopStmt>();
  copy.where = loop.where = c.step.where;
  copy_loop.from = l.to = at;
  l.part = again ? ir::Part::between : ir::Part::below;
  copy_loop.part = again ? ir::Part::beyond : ir::Part::above;
  c.results = {copy.id};
  insert_beside(c.p, loop.id, std::move(copy), true);
  // remap: the loop keeps its id; the copies know what they are copies of
}

bool draw_partition(Draw& d) {
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  const Stmt* loop = d.any(loops);
  Expr at = ir::index(static_cast<int>(d.pick(7)));
  const Expr extent = d.p.axis(loop->get<LoopStmt>().axis).extent;
  bool over_symbols = !extent.empty();  // not that of a loop which depends on others
  if (over_symbols)
    for (const Id v : ir::free_vars(extent)) over_symbols = over_symbols && d.p.symbols.count(v) != 0;
  if (over_symbols && !d.one_in(3)) at = ir::sub(extent, at);
  if (!d.one_in(6)) at = ir::max(at, ir::index(0));
  return d.step("partition", {Arg::loop(loop->id), Arg::map({}, {at})});
}

}  // namespace

extern constexpr Primitive partition_primitive{
    .name = "partition",
    .spelling = "partition",
    .parameters = {takes::loop(), takes::point()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_partition,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_partition},
    .handle = [](const Step&, std::size_t) { return "beyond"; },
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Loop Stage::partition(Loop l, Operand at, Where w) const {
  if (at.is_number() ? at.number_type().is_float() || at.number_type().is_bool() : !at.expr().type().is_index())
    refuse("partition", "a point that counts iterations: an integer, or an Expr over symbols",
           at.is_number() ? "a floating number or bool" : "one of " + ir::text(at.expr().type()), w);
  lang::Built names;
  names.variable_of = state_->variable_of;
  const Expr point = at.is_number() ? ir::index(at.integer()) : names.in_program(at.expr(), w);
  const schedule::Primitive& partition = schedule::partition_primitive;
  return Loop(apply(partition, {own(l, partition, w), Arg::map({}, {point})}, w)[0], state_);
}

}  // namespace ashlar
