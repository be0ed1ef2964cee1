// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// decompose_init(loop): the init of a reduction stands apart from its update, just before the loop.
//
//   for ko                 (reduction)          for ai
//     for ai                                      for aj
//       for aj                          ->          init acc
//         for ki           (reduction)          for ko
//           block acc                             for ai
//                                                   for aj
//                                                     for ki
//                                                       update acc
//
// The loops of the init are those of the update between `loop` and the block that are not reductions; they share their axes, so
// splits go before this call. No point is read between its init and its first update, whatever stands in the loop: what is
// computed there are other stages.
//
// Legality: `loop` stands outside of the other reduction loops of the stage, so that each point is initialized once.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

Stmt header_like(Program& p, const Stmt& loop) {
  const LoopStmt& of = loop.get<LoopStmt>();
  return {p.fresh(), loop.id, loop.where,
          LoopStmt{.axis = of.axis, .part = of.part, .from = of.from, .to = of.to, .tight = of.tight}};
}

void apply_decompose_init(Context& c) {
  // match: one block that is still whole, below the loop
  Stmt& loop = c.loop(0);
  const ir::Stage& stage = stage_around(c.p, loop.id);
  const std::string name = name_of(c.p, loop);
  if (!stage.is_reduction()) c.refuse("a loop of a reduction", name + ", which is not one");
  if (stage.scatters()) c.refuse("a stage with its init inside", stage.name + ", a scatter, whose init stands apart anyway");
  require_whole(c, loop);
  const auto blocks = ir::blocks_of(c.p, stage.id);
  for (const Stmt* b : blocks)
    if (b->get<BlockStmt>().piece != ir::Piece::whole)
      c.refuse("a stage with its init inside", stage.name + ", whose init stands apart already");
  if (blocks.size() != 1)
    c.refuse("a stage of one block", stage.name + ", whose loops were peeled (move this call before the peel)");
  const Stmt& block = *blocks.front();
  if (block.get<BlockStmt>().first_stores) c.refuse("a sum that starts from memory", stage.name + ", whose first step stores");
  // prove
  const auto path = ir::path_to(c.p, block.id);
  std::vector<const Stmt*> between;
  bool inside = false;
  for (const Stmt* s : path) {
    if (s->is<NestStmt>()) between.clear();
    const LoopStmt* l = s->as<LoopStmt>();
    if (!l) continue;
    inside = inside || s->id == loop.id;
    if (inside)
      between.push_back(s);
    else if (s->id != loop.id && c.p.axis(l->axis).reduce && stage_around(c.p, s->id).id == stage.id)
      c.unproved(Obligation::order, "a loop outside of all other reduction loops of " + stage.name,
                 name + " inside " + c.p.axis(l->axis).name,
                 "iterations " + c.p.axis(l->axis).name + " = 0 and " + c.p.axis(l->axis).name + " = 1 would both start " +
                     stage.name);
  }
  if (std::none_of(between.begin(), between.end(), [&](const Stmt* s) { return c.p.axis(s->get<LoopStmt>().axis).reduce; }))
    c.refuse("a loop with a reduction loop of " + stage.name + " in it", name);
  // rewrite
  Stmt init = block;
  BlockStmt& init_block = init.get<BlockStmt>();
  init.copy_of = block.id;
  init.id = c.p.fresh();
  init_block.piece = ir::Piece::init;
  init.where = c.step.where;
  std::erase_if(init_block.when, [&](const Expr& w) {
    const auto vars = ir::free_vars(w);
    return std::any_of(vars.begin(), vars.end(), [&](Id v) { return c.p.axes.count(v) && c.p.axis(v).reduce; });
  });
  for (std::size_t k = between.size(); k-- > 0;) {
    if (c.p.axis(between[k]->get<LoopStmt>().axis).reduce) continue;
    Stmt around = header_like(c.p, *between[k]);
    around.body().push_back(std::move(init));
    init = std::move(around);
  }
  ir::find(c.p, block.id)->get<BlockStmt>().piece = ir::Piece::update;
  const Spot spot = locate(c.p, loop.id);
  // before what the loop's body allocates nothing stands: the init goes directly in front
  spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index), std::move(init));
  // remap: every loop keeps its id
}

}  // namespace

extern constexpr Primitive decompose_init_primitive{
    .name = "decompose_init",
    .spelling = "decompose_init",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_decompose_init,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return draw_loop(d, "decompose_init"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::decompose_init(Loop l, Where w) const { return of_own(schedule::decompose_init_primitive, l, w); }
Stage Stage::init(Where w) const {
  const ir::Stage& stage = detail::current_stage(*state_, id_, "init", w);
  const auto blocks = ir::blocks_of(state_->scheduled.program, id_);
  if (std::none_of(blocks.begin(), blocks.end(),
                   [](const ir::Stmt* b) { return b->get<ir::BlockStmt>().piece == ir::Piece::init; }))
    refuse("init", "a stage whose init was taken out (decompose_init)", stage.name, w);
  return Stage(id_, state_, true);
}

}  // namespace ashlar
