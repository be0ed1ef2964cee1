// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// swizzle(stage, map): set_layout by a map that permutes the elements within the storage they have: as many coordinates, none
// of which needs more room than before.
//
//   swizzle(A_shared, (r, c) -> (r, c ^ (r % 4 * 8)))       granules of 8 elements, permuted by row; columns a multiple of 32
//
// Legality: BIJECT, and no coordinate leaves the box (CAPACITY).
#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_swizzle(Context& c) {
  const ir::Stage& stage = c.stage(0);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    const Arg& map = c.arg(1);
    if (map.exprs.size() != static_cast<std::size_t>(b.rank))
      c.refuse("a map of " + b.name + " to as many coordinates as it has dimensions, " + std::to_string(b.rank),
               std::to_string(map.exprs.size()));
    const Stmt* alloc = ir::alloc_of(c.p, b.id);
    if (!alloc) throw InternalError("no alloc of " + b.name);
    const std::vector<Expr> plain = analysis::storage_extents(c.p, alloc->id);
    set_map(c, b, map);
    prove_within(c, b, plain);
  }
}

}  // namespace

extern constexpr Primitive swizzle_primitive{
    .name = "swizzle",
    .spelling = "swizzle",
    .parameters = {takes::stage(), takes::map()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_swizzle,
    .cpp = of_stage,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::swizzle_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where w) const {
  return done(schedule::swizzle_primitive, {Arg::stage(id_), schedule::index_map(vars, map)}, w);
}

}  // namespace ashlar
