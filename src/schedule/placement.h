#pragma once
// What the placement primitives share.
#include "schedule/edit.h"

namespace ashlar::schedule {

Stmt& movable(Context&, const ir::Stage&);                                             // a stage whose place may change
void prove_placement(Context&, const ir::Stage&, const Stmt& nest, const Stmt& loop);  // every reader lies inside the loop
void move_into(Context&, const ir::Stage&,
               Id loop);  // nest and storage (unless store_at put it around the loop); 0: to the top
// Takes stages out that nothing reads any more, and that are no outputs. `because`: "had no reader any more when ..."
void drop_unread(Context&, const std::string& because);

}  // namespace ashlar::schedule
