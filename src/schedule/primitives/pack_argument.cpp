// pack_argument(input, map): the caller hands the input over in this layout; a change of the ABI.
//
// Legality: BIJECT.
#include "schedule/storage.h"

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_pack_argument(Context& c) {
  const Arg& a = c.arg(0);
  if (a.kind != Arg::Kind::buffer || !c.p.buffers.count(a.id)) c.refuse("an input of this program", "another tensor");
  ir::Buffer& b = c.p.buffers.at(a.id);
  if (b.role != ir::Role::input) c.refuse("an input", b.name);
  set_map(c, b, c.arg(1));
  b.packed_by_caller = true;
}

}  // namespace ashlar::schedule
