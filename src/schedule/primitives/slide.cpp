// slide(stage, loop): each iteration computes only what the iterations before have not.
//
//   for y in H                                       for y in H
//     nest P rows [y - 1, y + 1]             ->        nest P rows [y == 0 ? y - 1 : y + 1, y + 1]
//
// Legality: COVER: the window moves forward without gaps, the loop is serial, the storage lies outside of it.
#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_slide(Context& c) {
  // match: the one dimension of the window that moves with the loop
  const ir::Stage& stage = c.stage(0);
  const Stmt& loop = c.loop(1);
  Stmt& nest = only_nest(c, stage);
  if (!encloses(c.p, loop.id, nest.id))
    c.refuse("a loop that " + stage.name + " is computed inside (compute_at it first)", name_of(c.p, loop));
  if (nest.after)
    c.refuse("a stage computed before its readers", stage.name + ", which was put after its producer by fuse_into");
  if (!nest.slides.empty()) c.refuse("a stage that does not slide yet", stage.name);
  const auto window = analysis::required_region(c.p, nest.id);
  if (window.size() != static_cast<std::size_t>(stage.spatial_rank()))
    throw InternalError(stage.name + " has no readers around where it is computed");
  std::vector<Id> moving;
  std::size_t d = 0;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    if (ir::uses_var(window.at(d).lo, loop.axis) || ir::uses_var(window.at(d).hi, loop.axis)) moving.push_back(v.id);
    ++d;
  }
  if (moving.size() != 1)
    c.refuse("a window that moves with " + name_of(c.p, loop) + " in one dimension",
             stage.name + " moves in " + (moving.empty() ? "none" : std::to_string(moving.size()) + " of them"));
  const ir::Slide slide{loop.id, moving.front(), c.step.where};
  prove_slide(c, nest, slide);
  nest.slides.push_back(slide);
}

}  // namespace ashlar::schedule
