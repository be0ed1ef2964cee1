// slide(stage, loop): each iteration computes only what the iterations before have not.
// fold(stage, dim, n): the storage of that dimension becomes a ring of n, slot v % n.
//
//   for y in H                                       for y in H
//     nest P rows [y - 1, y + 1]             ->        nest P rows [y == 0 ? y - 1 : y + 1, y + 1]
#include <algorithm>

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
  if (!nest.slides.empty()) c.refuse("a stage that does not slide yet", stage.name);
  const auto window = analysis::required_region(c.p, nest.id);
  std::vector<Id> moving;
  std::size_t d = 0;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    if (ir::uses_var(window.at(d).lo, loop.axis) || ir::uses_var(window.at(d).hi, loop.axis)) moving.push_back(v.id);
    ++d;
  }
  if (moving.size() != 1)
    c.refuse("a window that moves with " + name_of(c.p, loop) + " in one dimension", stage.name + " moves in " + std::to_string(moving.size()));
  const ir::Slide slide{loop.id, moving.front(), c.step.where};
  prove_slide(c, nest, slide);
  nest.slides.push_back(slide);
}

void apply_fold(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const std::int64_t dim = c.integer(1), n = c.integer(2);
  if (dim < 0 || dim >= stage.spatial_rank())
    c.refuse("a dimension of " + stage.name + " below " + std::to_string(stage.spatial_rank()), std::to_string(dim));
  if (n < 1) c.refuse("a ring of at least 1", std::to_string(n));
  for (Id id : stage.buffers) {
    ir::Buffer& b = c.p.buffers.at(id);
    if (b.role != ir::Role::temporary) c.refuse("a stage with storage of its own", stage.name + ", an output");
    if (b.layout.map.empty())
      for (int k = 0; k < b.rank; ++k) {
        b.layout.vars.push_back(c.p.fresh());
        b.layout.map.push_back(ir::var(b.layout.vars.back(), "d" + std::to_string(k)));
      }
    Expr& e = b.layout.map.at(static_cast<std::size_t>(dim));
    if (b.layout.map.size() != static_cast<std::size_t>(b.rank) || !ir::is(e, ir::Op::var))
      c.refuse("a dimension that is stored as it is", "dimension " + std::to_string(dim) + " of " + b.name + ", whose layout was set");
    e = ir::mod(e, ir::index(n));
    b.where = c.step.where;
    prove_fold(c, b);
  }
}

}  // namespace ashlar::schedule
