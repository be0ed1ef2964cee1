// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_at(stage, loop): where a stage is computed.
//
//   for i in M                   for io in M / 32
//     block P            ->        alloc P
//   for io in M / 32               for i in what this tile of C reads of P
//     ... block C                    block P
//                                  ... block C
//
// The nest moves; its box is derived from the readers that stay around it, so work shrinks and storage follows. Its own
// loops may already be split: their extents follow the box. Legality: COVER, every reader lies inside the loop.
#include "schedule/primitives/placement/placement.h"

#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

// match: a stage whose place may change
Stmt& movable(Context& c, const ir::Stage& stage) {
  Stmt& nest = only_nest(c, stage);
  NestStmt& node = nest.get<NestStmt>();
  if (node.after)
    c.refuse("a stage computed before its readers", stage.name + ", which was put after its producer by fuse_into");
  if (!node.slides.empty()) c.refuse("a stage that does not slide yet (move this call before slide)", stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>(); n && n->after)
      c.refuse("a stage with nothing put after it (move this call before fuse_into)",
               c.p.stage(n->stage).name + " inside " + stage.name);
  });
  return nest;
}

namespace {

// Whether all that reads the stage is computed inside the loop.
bool read_only_inside(Context& c, const ir::Stage& stage, const Stmt& loop) {
  bool any = false;
  for (const auto& [id, reader] : c.p.stages)
    for (Id b : stage.buffers) {
      if (id == stage.id || !reads_buffer(reader, b)) continue;
      for (const Stmt* block : ir::blocks_of(c.p, id)) {
        if (!block_reads(c.p, *block, b)) continue;
        if (!encloses(c.p, loop.id, block->id)) return false;
        any = true;
      }
    }
  return any;
}

// The other way round: a loop of what the stage reads. Empty if it is not.
std::string reversed(const Context& c, const ir::Stage& stage, const Stmt& loop) {
  const ir::Stage& host = stage_around(c.p, loop.id);
  if (std::none_of(host.buffers.begin(), host.buffers.end(), [&](Id b) { return reads_buffer(stage, b); })) return "";
  return "; " + stage.name + " reads " + host.name + ", and a stage is computed at a loop of its reader: s[" + host.name +
         "].compute_at(...) with a loop of " + stage.name;
}

// The step that is missing where a reader is computed outside of the loop.
std::string missing_step(Context& c, const ir::Stage& stage, const ir::Stage& reader, const Stmt& loop) {
  if (std::string other_way = reversed(c, stage, loop); !other_way.empty()) return other_way;
  const bool temporary = std::all_of(reader.buffers.begin(), reader.buffers.end(),
                                     [&](Id b) { return c.p.buffer(b).role == ir::Role::temporary; });
  if (temporary && read_only_inside(c, reader, loop))
    return "; first " + reader.name + " has to be computed there: s[" + reader.name +
           "].compute_at(...) with this loop, then " + stage.name;
  if (temporary)
    return "; first " + reader.name + " and what reads it have to be computed there, readers before what they read";
  return ", an output; " + stage.name + " can be computed at a loop around both (fuse_siblings makes one), or at root";
}

}  // namespace

// prove: every reader lies inside the loop; the loop is not the stage's own
void prove_placement(Context& c, const ir::Stage& stage, const Stmt& nest, const Stmt& loop) {
  const bool output = stores_outputs(c.p, stage);
  if (output && c.target.is_gpu())
    c.refuse("a stage that is not an output (an output is computed at root)", stage.name + reversed(c, stage, loop));
  if (encloses(c.p, nest.id, loop.id))
    c.refuse("a loop of another stage", name_of(c.p, loop) + ", a loop of " + stage.name + " itself");
  if (output) prove_needed(c, stage, reversed(c, stage, loop));
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (ir::is_loop(*s, ir::LoopKind::vectorized))
      c.refuse("a loop outside of vectorized ones",
               name_of(c.p, loop) + (s->id == loop.id ? ", which is vectorized" : " inside " + name_of(c.p, *s)));
  bool any = false;
  for (const auto& [id, reader] : c.p.stages) {
    if (id == stage.id ||
        std::none_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return reads_buffer(reader, b); }))
      continue;
    for (const Stmt* block : ir::blocks_of(c.p, id)) {
      if (std::none_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return block_reads(c.p, *block, b); })) continue;
      if (!encloses(c.p, loop.id, block->id))
        c.unproved(Obligation::cover, "a loop around every reader of " + stage.name,
                   name_of(c.p, loop) + " does not hold " + reader.name + missing_step(c, stage, reader, loop));
      any = true;
    }
  }
  if (!any) throw InternalError(stage.name + " is read by nothing");
}

// rewrite: nest and (unless store_at put it further out, around the loop) alloc go into the loop
void move_into(Context& c, const ir::Stage& stage, Id loop_id) {
  const Id nest_id = only_nest(c, stage).id;
  std::vector<Stmt> moved;
  for (Id b : stage.buffers) {
    const Stmt* alloc = ir::alloc_of(c.p, b);
    if (!alloc) continue;
    const auto path = ir::path_to(c.p, alloc->id);
    const Stmt* holder = path.size() > 1 ? path[path.size() - 2] : nullptr;
    const bool stays =
        alloc->get<AllocStmt>().pinned && (!holder || holder->id == loop_id || encloses(c.p, holder->id, loop_id));
    if (stays) continue;
    Stmt a = take(c.p, alloc->id);
    a.get<AllocStmt>().pinned = false;
    moved.push_back(std::move(a));
  }
  moved.push_back(take(c.p, nest_id));
  std::vector<Stmt>& body = loop_id ? ir::find(c.p, loop_id)->body() : c.p.body;
  insert_before_use(c.p, body, std::move(moved), stage.buffers);
}

namespace {

void apply_compute_at(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const Stmt& loop = c.loop(1);
  const Stmt& nest = movable(c, stage);
  prove_placement(c, stage, nest, loop);
  move_into(c, stage, loop.id);
}

// At a loop of a reader or, most often, one that may stand further out.
bool draw_compute_at(Draw& d) {
  const Id stage = d.temporary();
  std::vector<Id> readers = readers_of(d.p, stage);
  if (readers.empty() || d.one_in(16)) readers = d.stages();
  std::vector<const Stmt*> loops = loops_of(d.p, d.any(readers));
  if (!d.one_in(4)) {
    const std::vector<const Stmt*> further = loops_around(d.p, readers.front());
    loops.insert(loops.end(), further.begin(), further.end());
  }
  return !loops.empty() && d.step("compute_at", {Arg::stage(stage), Arg::loop(d.any(loops)->id)});
}

}  // namespace

extern constexpr Primitive compute_at_primitive{
    .name = "compute_at",
    .spelling = "compute_at",
    .parameters = {takes::stage(), takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_compute_at,
    .cpp = of_stage,
    .draw = Drawing{.often = 4, .draw = draw_compute_at},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::compute_at(Loop l, Where w) const { return of_any(schedule::compute_at_primitive, l, w); }

}  // namespace ashlar
