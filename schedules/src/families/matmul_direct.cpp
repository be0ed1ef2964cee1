// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul_direct.h>

#include <ashlar/ir/at_line.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

void matmul_direct(Schedule& s, const Stage& stage, const MatmulOptions& options, Where where) {
  const AtLine line(where);
  detail::expect_options("matmul_direct", options, where);
  const Stage product = s[stage];
  const detail::MatmulBlocks b(s.target(), detail::product_type("matmul_direct", s, product, 3, where), options);
  Stage sums = s.cache_write(product, Scope::registers);
  auto [i, j] = detail::last<2>(product);
  auto [io, ii] = product.split(i, b.rows, Tail::shift);
  auto [jo, ji] = product.split(j, b.columns, Tail::guard);
  auto [half, lane] = product.split(ji, b.lanes, Tail::exact);
  product.reorder(jo, io, ii, half, lane).unroll(ii).unroll(half).vectorize(lane);
  const Loop tiles = options.parallel ? product.fuse(jo, io) : io;
  sums.compute_at(tiles);
  auto [si, sj, k] = detail::last<3>(sums);
  auto [tile, row] = sums.split(si, b.rows, Tail::guard);
  auto [panel, column] = sums.split(sj, b.columns, Tail::guard);
  auto [part, l] = sums.split(column, b.lanes, Tail::exact);
  sums.reorder(tile, panel, k, row, part, l).unroll(row).unroll(part).vectorize(l);
  if (options.parallel) product.parallel(tiles);
}

}  // namespace ashlar::schedules
