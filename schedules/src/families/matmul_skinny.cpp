// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul_skinny.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

void matmul_skinny(Schedule& s, const Stage& stage, const SkinnyOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_option("matmul_skinny", "tile_i", o.tile_i, 1, where);
  detail::expect_option("matmul_skinny", "tile_j", o.tile_j, 0, where);
  detail::expect_option("matmul_skinny", "block_k", o.block_k, 0, where);
  detail::expect_option("matmul_skinny", "block_j", o.block_j, 1, where);
  detail::expect_option("matmul_skinny", "part_k", o.part_k, 0, where);
  const Stage product = s[stage];
  const int lanes = s.target().lanes(detail::product_type("matmul_skinny", s, product, 3, where));
  const int registers = o.tile_j != 0 ? o.tile_j : std::max(1, std::min(8, s.target().vector_registers() / 2 / o.tile_i));
  const int block_k = o.block_k != 0 ? o.block_k : 8;
  const int columns = registers * lanes;
  if (o.part_k % block_k != 0)
    refuse("matmul_skinny", "part_k that is a multiple of block_k, " + std::to_string(block_k), std::to_string(o.part_k),
           where);
  const auto [blocks, of_block] = product.split(detail::last<3>(product)[2], block_k, Tail::guard);
  product.tighten(of_block);
  Stage partial = product.rfactor(blocks), sums = product;
  Loop part;
  if (o.part_k > 0) {
    const auto [several, block] = product.split(detail::last<3>(product)[2], o.part_k / block_k, Tail::guard);
    product.tighten(block);
    sums = product.rfactor(several);
    sums.transform_layout([](Var r, Var c, Var p) { return at(p, r, c); });
    part = detail::last<2>(sums)[0];
  }
  const std::vector<Loop> nest = sums.nest();
  const Loop ko = nest.back();
  auto [io, ii] = sums.split(nest[0], o.tile_i, Tail::guard);
  auto [jp, ji] = sums.split(nest[1], columns, Tail::guard);
  auto [jc, jo] = sums.split(jp, std::max(1, o.block_j / columns), Tail::guard);
  if (o.part_k > 0)
    sums.reorder(jc, part, ko, io, jo, ii, ji);
  else
    sums.reorder(jc, ko, io, jo, ii, ji);
  sums.tighten(jo);
  partial.compute_at(jo).store_in(Scope::registers);
  auto [pi, pj, pb, pk] = detail::last<4>(partial);
  auto [row_tile, row] = partial.split(pi, o.tile_i, Tail::guard);
  auto [panel, column] = partial.split(pj, columns, Tail::guard);
  auto [strip, lane] = partial.split(column, lanes, Tail::exact);
  partial.reorder(pb, row_tile, panel, pk, row, strip, lane).unroll(row).unroll(strip).vectorize(lane);
  auto [half, l] = sums.split(ji, lanes, Tail::exact);
  sums.unroll(ii).unroll(half).vectorize(l);
  const Loop pieces = o.part_k > 0 ? sums.fuse(jc, part) : jc;
  if (o.parallel) sums.parallel(pieces);
  if (o.part_k == 0) return;
  auto [ci, cj, cp] = detail::last<3>(product);
  auto [cc, of_piece] = product.split(cj, columns, Tail::guard);
  auto [vectors, cl] = product.split(of_piece, lanes, Tail::exact);
  product.reorder(cc, ci, vectors, cp, cl).vectorize(cl);
  if (o.parallel) product.parallel(cc);
}

}  // namespace ashlar::schedules
