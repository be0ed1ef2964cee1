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
// A few rows of B are read side by side, each a long way: the processor's prefetching follows so many.
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct SkinnyOptions {
  int tile_i = 4;      // rows of a register tile: the rows there are, or a part of them
  int tile_j = 0;      // registers of a row of it; 0: as many as half of the file holds, 8 at most
  int block_k = 0;     // rows of B read at once; 0: 8
  int block_j = 1024;  // columns handed to a thread
  bool parallel = true;
};

inline void matmul_skinny(Schedule& s, const Stage& stage, const SkinnyOptions& o = {}, Where where = Where::current()) {
  const AtLine line(where);
  detail::expect_option("matmul_skinny", "tile_i", o.tile_i, 1, where);
  detail::expect_option("matmul_skinny", "tile_j", o.tile_j, 0, where);
  detail::expect_option("matmul_skinny", "block_k", o.block_k, 0, where);
  detail::expect_option("matmul_skinny", "block_j", o.block_j, 1, where);
  const Stage product = s[stage];
  const int lanes = s.target().lanes(detail::product_type("matmul_skinny", s, product, 3, where));
  const int registers = o.tile_j != 0 ? o.tile_j : std::max(1, std::min(8, s.target().vector_registers() / 2 / o.tile_i));
  const int block_k = o.block_k != 0 ? o.block_k : 8;
  const int columns = registers * lanes;
  auto [i, j, k] = detail::last<3>(product);
  auto [io, ii] = product.split(i, o.tile_i, Tail::guard);
  auto [jp, ji] = product.split(j, columns, Tail::guard);
  auto [jc, jo] = product.split(jp, std::max(1, o.block_j / columns), Tail::guard);
  auto [ko, ki] = product.split(k, block_k, Tail::guard);
  product.reorder(jc, ko, io, jo, ii, ji, ki).tighten(ki).tighten(jo);
  Stage partial = product.rfactor(ko);
  partial.compute_at(jo).store_in(Scope::registers);
  auto [pi, pj, pb, pk] = detail::last<4>(partial);
  auto [row_tile, row] = partial.split(pi, o.tile_i, Tail::guard);
  auto [panel, column] = partial.split(pj, columns, Tail::guard);
  auto [part, lane] = partial.split(column, lanes, Tail::exact);
  partial.reorder(pb, row_tile, panel, pk, row, part, lane).unroll(row).unroll(part).vectorize(lane);
  auto [half, l] = product.split(ji, lanes, Tail::exact);
  product.unroll(ii).unroll(half).vectorize(l);
  if (o.parallel) product.parallel(jc);
}

}  // namespace ashlar::schedules
