// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reorder(a, b, c): the named loops take each other's places, outermost first; loops between them that are not named stay.
//
//   reorder(j, i)    for i { for j { block } }   ->   for j { for i { block } }
//
// Legality: ORDER. A stage writes each point from its own iteration, so spatial loops may stand in any order; the reduction
// loops of a point are an order of accumulation, and changing their relative order needs REASSOC.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_reorder(Context& c) {
  // match: all named loops lie on one chain, each the only statement in the loop around it
  std::vector<Id> wanted;
  for (std::size_t k = 0; k < c.count(); ++k) {
    const Stmt& loop = c.loop(k);
    if (std::find(wanted.begin(), wanted.end(), loop.id) != wanted.end())
      c.refuse("each loop once", name_of(c.p, loop) + " twice");
    wanted.push_back(loop.id);
  }
  if (wanted.size() < 2) c.refuse("at least two loops", std::to_string(wanted.size()));
  const Stmt* top = nullptr;
  for (Id id : wanted)
    if (std::all_of(wanted.begin(), wanted.end(), [&](Id other) { return other == id || encloses(c.p, id, other); }))
      top = ir::find(c.p, id);
  if (!top)
    c.refuse("loops around one another",
             name_of(c.p, c.loop(0)) + " and " + name_of(c.p, c.loop(1)) + " are not all on one path");
  std::vector<Stmt*> chain;
  std::size_t found = 0;
  for (Stmt* s = const_cast<Stmt*>(top);; s = &s->body.front()) {
    if (s->kind != Stmt::Kind::loop) throw InternalError("loops around one another with a block between them");
    chain.push_back(s);
    found += static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), s->id));
    if (found == wanted.size()) break;
    if (s->body.size() != 1) {
      for (const Stmt& b : s->body)
        if (b.kind == Stmt::Kind::nest)
          c.refuse("loops with nothing between them", c.p.stage(b.stage).name + " is computed inside " + name_of(c.p, *s) +
                                                          " (move this call before its " +
                                                          (b.after ? "fuse_into)" : "compute_at)"));
      for (const Stmt& b : s->body)
        if (b.kind == Stmt::Kind::prefetch || b.kind == Stmt::Kind::alloc)
          c.refuse("loops with nothing between them",
                   c.p.buffer(b.buffer).name + (b.kind == Stmt::Kind::alloc ? " is stored inside " : " is prefetched inside ") +
                       name_of(c.p, *s) + " (move this call before its " +
                       (b.kind == Stmt::Kind::alloc ? "store_at)" : "prefetch)"));
      if (c.p.stage(nest_of(c.p, s->id).stage).scatters() && !c.p.axis(s->axis).reduce)
        c.refuse("loops with nothing between them",
                 "inside " + name_of(c.p, *s) + " the init stands beside the steps of the scatter");
      c.refuse("loops with nothing between them",
               "the parts of a loop that was peeled inside " + name_of(c.p, *s) + " (move this call before the peel)");
    }
  }
  // prove
  struct Header {
    Id id, axis, copy_of;
    Where where;
    ir::LoopKind kind;
    ir::Part part;
    Expr from, to;
    bool tight;
    ThreadAxis bound_to;
    Id intrinsic;
    bool combines;
    ir::Pipeline pipeline;
  };
  std::vector<Header> headers(chain.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    const bool named = std::find(wanted.begin(), wanted.end(), chain[k]->id) != wanted.end();
    const Stmt& from = named ? *ir::find(c.p, wanted[next++]) : *chain[k];
    headers[k] = {from.id, from.axis,  from.copy_of,  from.where,     from.loop_kind, from.part,    from.from,
                  from.to, from.tight, from.bound_to, from.intrinsic, from.combines,  from.pipeline};
  }
  std::vector<Id> before, after;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    if (c.p.axis(chain[k]->axis).reduce) before.push_back(chain[k]->axis);
    if (c.p.axis(headers[k].axis).reduce) after.push_back(headers[k].axis);
  }
  const ir::Stage& stage = c.p.stage(nest_of(c.p, top->id).stage);
  if (before != after) {
    // the outermost loop that now stands further in, and the one that took its place
    const std::size_t k =
        static_cast<std::size_t>(std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin());
    const std::string x = c.p.axis(before[k]).name, y = c.p.axis(after[k]).name;
    prove_reassociation(
        c, stage, "this changes the order of its reduction loops",
        x + " = 0, " + y + " = 1 comes before " + x + " = 1, " + y + " = 0 in the definition, and after it in the schedule");
  }
  for (std::size_t k = 0; k < headers.size(); ++k)
    for (std::size_t j = k; j < headers.size(); ++j)
      if (ir::uses_var(c.p.axis(headers[k].axis).extent, headers[j].axis))
        c.refuse("a loop inside those that bound it", c.p.axis(headers[k].axis).name + " in " +
                                                          ir::text(c.p.axis(headers[k].axis).extent) + " would stand outside " +
                                                          c.p.axis(headers[j].axis).name);
  // rewrite; every loop keeps its id, so handles stay as they are
  for (std::size_t k = 0; k < chain.size(); ++k) {
    chain[k]->id = headers[k].id, chain[k]->axis = headers[k].axis, chain[k]->copy_of = headers[k].copy_of;
    chain[k]->where = headers[k].where, chain[k]->loop_kind = headers[k].kind, chain[k]->part = headers[k].part,
    chain[k]->from = headers[k].from, chain[k]->to = headers[k].to, chain[k]->tight = headers[k].tight,
    chain[k]->bound_to = headers[k].bound_to, chain[k]->intrinsic = headers[k].intrinsic,
    chain[k]->combines = headers[k].combines, chain[k]->pipeline = headers[k].pipeline;
  }
}

}  // namespace

extern constexpr Primitive reorder_primitive{
    .name = "reorder",
    .spelling = "reorder",
    .parameters = {takes::loop("loop").any_number()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::of_one_nest, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_reorder,
    .cpp = of_loop,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::reorder_(const Loop* loops, std::size_t count, Where w) const {
  std::vector<Arg> args;
  for (std::size_t k = 0; k < count; ++k) args.push_back(own(loops[k], schedule::reorder_primitive, w));
  return done(schedule::reorder_primitive, std::move(args), w);
}

}  // namespace ashlar
