// pack_argument(input, map): the caller hands the input over in this layout; a change of the ABI.
//
// Legality: BIJECT.
#include <ashlar/ir/print.h>

#include "schedule/storage.h"

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_pack_argument(Context& c) {
  ir::Buffer& b = c.buffer(0);
  if (b.role != ir::Role::input)
    c.refuse("an input", b.name + (b.role == ir::Role::output     ? ", an output"
                                   : b.role == ir::Role::constant ? ", a constant (write it in the layout that you want)"
                                                                  : ", a stage (transform_layout sets its layout)"));
  if (b.type.is_packed())
    c.refuse("an input of elements of 8 bits or more (what packs it writes one element at a time)",
             b.name + ", of " + ir::text(b.type));
  set_map(c, b, c.arg(1));
  b.packed_by_caller = true;
}

}  // namespace ashlar::schedule
