// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store_at(stage, loop): its storage begins at this loop, around where it is computed; a stage computed further out is
// first computed there. The loop may be one of the stage's own, where all its readers are computed inside it (fuse_into).
//
//   alloc P                          for io
//   for io               ->            alloc P        holds the part of one io
//     ... block P                      ... block P
//     ... block C reads P              ... block C reads P
//
// Legality: COVER: no value is needed outside of the loop, neither by a reader nor by a later step of a reduction.
#include "schedule/primitives/placement/placement.h"

#include <ashlar/analysis/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

// Of a stage's own loop: values may not outlive an iteration.
void prove_own_loop(const Context& c, const ir::Stage& stage, const Stmt& loop) {
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* l = s->as<LoopStmt>(); l && c.p.axis(l->axis).reduce)
      c.unproved(Obligation::cover, "a loop outside of the reduction loops of " + stage.name,
                 name_of(c.p, *s) + ", whose later steps need what the earlier ones stored");
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* over = s->as<LoopStmt>();
        over && stage_around(c.p, s->id).id == stage.id && !analysis::iterations_apart(c.p, stage, over->axis))
      c.unproved(Obligation::cover,
                 "a loop of " + stage.name + " outside of those whose later steps read what the earlier ones stored",
                 name_of(c.p, *s));
  if (loop.get<LoopStmt>().kind == ir::LoopKind::vectorized) c.refuse("a loop that is not vectorized", name_of(c.p, loop));
  for (const auto& [id, reader] : c.p.stages)
    for (Id b : stage.buffers)
      if (id == stage.id || reads_buffer(reader, b))
        for (const Stmt* block : ir::blocks_of(c.p, id))
          if (!encloses(c.p, loop.id, block->id))
            c.unproved(Obligation::cover, "a loop around all of " + stage.name + " and its readers",
                       name_of(c.p, loop) + " does not hold " + reader.name);
}

void apply_store_at(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const Stmt& loop = c.loop(1);
  const Stmt& nest = only_nest(c, stage);
  const Id loop_id = loop.id;
  if (encloses(c.p, nest.id, loop_id)) {
    prove_own_loop(c, stage, loop);
  } else if (!encloses(c.p, loop_id, nest.id)) {
    movable(c, stage);
    prove_placement(c, stage, nest, loop);
    move_into(c, stage, loop_id);
  }
  for (Id b : stage.buffers) {
    if (c.p.buffer(b).role != ir::Role::temporary) c.refuse("a stage with storage of its own", stage.name + ", an output");
    Stmt a = take(c.p, ir::alloc_of(c.p, b)->id);
    a.get<AllocStmt>().pinned = true;
    std::vector<Stmt> one;
    one.push_back(std::move(a));
    insert_before_use(c.p, ir::find(c.p, loop_id)->body(), std::move(one), {b});
  }
}

}  // namespace

extern constexpr Primitive store_at_primitive{
    .name = "store_at",
    .spelling = "store_at",
    .parameters = {takes::stage(), takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_store_at,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = [](Draw& d) { return draw_at(d, "store_at"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::store_at(Loop l, Where w) const { return of_any(schedule::store_at_primitive, l, w); }

}  // namespace ashlar
