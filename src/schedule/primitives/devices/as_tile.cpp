// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// as_tile(loop): the iterations are a dimension of the tiles that the stage is computed in (docs/tiles.md). Loops over blocks
// and serial loops stand around those that are dimensions; lowering turns what is inside into operations on whole tiles.
//
//   for io in M / 128        block_x              block_x, block_y:
//     for jo in N / 256      block_y                sum = 0 : f32 128x256
//       for ko in K / 64                   ->       for ko
//         for ii in 128      tile                     sum = mma A[tile (io, ko)], B[tile (ko, jo)], sum
//           for ji in 256    tile                   C[tile (io, jo)] = sum
//             for ki in 64   tile
//               block C
//
// Legality: CAPACITY, an extent that is a constant power of two, or at most the width that is given; DISJOINT for spatial
// loops, REASSOC for those over terms, which are combined in any order.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

void apply_as_tile(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop), require_whole(c, loop);
  if (!c.target.has_tiles())
    c.refuse("a target with tiles, such as cuda-tile-sm_90 (vectorize makes lanes of a loop elsewhere)",
             std::string(c.target.text()));
  LoopStmt& l = loop.get<LoopStmt>();
  std::int64_t width = c.count() > 1 ? c.integer(1) : 0;
  if (c.count() > 1 && !power_of_two(width)) c.refuse("a width that is a power of two", std::to_string(width));
  if (!width) {
    const ir::LoopRange r = ir::range_of(c.p, loop);
    const Expr extent = analysis::simplify(ir::sub(r.end, r.begin), analysis::facts_at(c.p, loop.id));
    if (!ir::is_int(extent, &width) || !power_of_two(width))
      c.refuse("a constant extent that is a power of two (split by one first, or give a width, which is padded to)",
               name_of(c.p, loop) + " in " + ir::text(extent));
  }
  // rewrite; handles stay
  l.kind = ir::LoopKind::tile;
  l.width = width;
  loop.where = c.step.where;
  // prove
  prove_tile(c, loop);
}

bool draw_as_tile(Draw& d) { return draw_loop(d, "as_tile"); }

}  // namespace

extern constexpr Primitive as_tile_primitive{
    .name = "as_tile",
    .spelling = "as_tile",
    .parameters = {takes::loop(), takes::number("width").maybe()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_as_tile,
    .cpp = of_loop,
    .draw = Drawing{.draw = draw_as_tile},  // never by chance: fuzz/tiles.cpp applies it
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::as_tile(std::span<const Loop> loops, Where w) const {
  detail::Transaction transaction(*state_, "as_tile");
  for (const Loop l : loops) of_own(schedule::as_tile_primitive, l, w);
  transaction.keep();
  return *this;
}
Stage Stage::as_tile(Loop l, Factor width, Where w) const {
  const schedule::Primitive& as_tile = schedule::as_tile_primitive;
  return done(as_tile, {own(l, as_tile, w), Arg::integer(width.value())}, w);
}

}  // namespace ashlar
