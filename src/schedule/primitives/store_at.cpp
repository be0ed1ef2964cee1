// store_at(stage, loop): its storage begins at this loop, around where it is computed; a stage computed further out is
// first computed there.
#include "schedule/placement.h"

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_store_at(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const Stmt& loop = c.loop(1);
  const Stmt& nest = only_nest(c, stage);
  const Id loop_id = loop.id;
  if (!encloses(c.p, loop_id, nest.id)) {
    movable(c, stage);
    prove_placement(c, stage, nest, loop);
    move_into(c, stage, loop_id);
  }
  for (Id b : stage.buffers) {
    if (c.p.buffer(b).role != ir::Role::temporary) c.refuse("a stage with storage of its own", stage.name + ", an output");
    Stmt a = take(c.p, ir::alloc_of(c.p, b)->id);
    a.pinned = true;
    std::vector<Stmt> one;
    one.push_back(std::move(a));
    insert_before_use(c.p, ir::find(c.p, loop_id)->body, std::move(one), b);
  }
}

}  // namespace ashlar::schedule
