// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of few rows, C[i, j] = sum over k of A[i, k] B[k, j] with i below a dozen or so: B is read once, as it lies in
// memory, and nothing is packed. What they take is the time to read B.
//
//   schedules::matmul_skinny(s, s[C], {.tile_i = 8});
//
//   for jc   (block_j columns)                                     in parallel
//     for ko   (block_k rows of B)                                 C's columns stay in the first-level cache
//       for io   (tile_i rows)                                     and so do B's after the first of them
//         for jo   (tile_j registers)
//           partial, tile_i x tile_j sums in registers: for ki one row of B
//           C += partial, the first block stores
//
// A few rows of B are read side by side, each a long way: the processor's prefetching follows so many. Narrower blocks of
// columns would be more pieces of work, which one thread reads more slowly. So with `part_k` pieces are parts of the sum, too:
//
//   for jc, p   (block_j columns, part_k rows of B)                in parallel, as one loop
//     part = as above, of these rows
//   C = the sum of the parts
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct SkinnyOptions {
  int tile_i = 4;      // rows of a register tile: the rows there are, or a part of them
  int tile_j = 0;      // registers of a row of it; 0: as many as half of the file holds, 8 at most
  int block_k = 0;     // rows of B read at once; 0: 8
  int block_j = 1024;  // columns handed to a thread
  int part_k = 0;      // rows of B handed to a thread, a multiple of block_k; 0: all
  bool parallel = true;
};

inline void matmul_skinny(Schedule& s, const Stage& stage, const SkinnyOptions& o = {}, Where where = Where::current()) {
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
