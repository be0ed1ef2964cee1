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

// Columns or rows turned around, moved on by row, or exclusive-ored, within the box that they have.
bool draw_swizzle(Draw& d) {
  const std::vector<Id> stored = [&] {
    std::vector<Id> all;
    for (const auto& [id, b] : d.p.buffers)
      if (b.stage && b.rank > 0 && ir::alloc_of(d.p, id)) all.push_back(id);
    return all;
  }();
  if (stored.empty()) return false;
  const ir::Buffer& b = d.p.buffer(d.any(stored));
  const std::vector<Expr> extents = analysis::storage_extents(d.p, b.id);
  std::vector<Id> vars;
  std::vector<Expr> map;
  for (int k = 0; k < b.rank; ++k)
    vars.push_back(static_cast<Id>(k + 1)), map.push_back(ir::var(vars.back(), "d" + std::to_string(k)));
  const std::size_t which = d.pick(static_cast<std::uint32_t>(b.rank)), other = d.pick(static_cast<std::uint32_t>(b.rank));
  std::int64_t n = d.between(1, 8);
  if (which < extents.size() && !d.one_in(10)) ir::is_int(extents[which], &n);
  const Expr row = map[other], column = map[which];
  switch (d.pick(4)) {
    case 0:
      map[which] = ir::sub(ir::index(n - 1), column);
      break;
    case 1:
      map[which] = ir::mod(ir::add(column, which == other ? ir::index(d.between(1, 3)) : row), ir::index(n));
      break;
    case 2: {
      const Expr granule = ir::index(1 << d.pick(3)), rows = ir::index(1 << d.pick(3));
      map[which] = ir::binary(ir::Op::bit_xor, column, ir::mul(ir::mod(row, rows), granule));
      break;
    }
    default:
      map[which] = ir::binary(ir::Op::bit_xor, column, ir::index(d.between(1, 3)));
  }
  return d.step("swizzle", {Arg::stage(b.stage), Arg::map(vars, map)});
}

}  // namespace

extern constexpr Primitive swizzle_primitive{
    .name = "swizzle",
    .spelling = "swizzle",
    .parameters = {takes::stage(), takes::map()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_swizzle,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = draw_swizzle},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::swizzle_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where w) const {
  return done(schedule::swizzle_primitive, {Arg::stage(id_), schedule::index_map(vars, map)}, w);
}

}  // namespace ashlar
