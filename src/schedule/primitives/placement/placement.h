// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the placement primitives share.
#include "schedule/edit.h"

namespace ashlar::schedule {

Stmt& movable(Context&, const ir::Stage&);                                             // a stage whose place may change
void prove_placement(Context&, const ir::Stage&, const Stmt& nest, const Stmt& loop);  // every reader lies inside the loop
void move_into(Context&, const ir::Stage&,
               Id loop);  // nest and storage (unless store_at put it around the loop); 0: to the top

// A stage that is not an output, and that no other one reads; null where there is none.
const ir::Stage* unread(const Program&);
// Takes a stage that nothing reads out of the program, with what is computed inside it for it alone.
void drop_stage(Context&, const ir::Stage&, const std::string& because);
// Takes stages out that nothing reads any more, and that are not outputs. `because`: "had no reader any more when ..."
void drop_unread(Context&, const std::string& because);

struct Inlined {
  ir::Stage stage;
  mutable int read = 0;  // where its value was put
};
ir::Stage inlined_stage(Context&);  // the first argument, refused where it cannot be inlined
// What reads stages, by their buffers, computes their values itself; where these read each other, those of all of them.
void inline_into_readers(Context&, const std::map<Id, Inlined>&);

}  // namespace ashlar::schedule
