// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with few results and many terms: each block adds a part of the terms, and a second launch adds the parts of each
// result in order. So repeated runs give the same bits.
//
//   for p in (K + part - 1) / part, for bi, for bj      block_z, block_y, block_x
//     parts[p] = sums of `part` terms                   a product, stored in global memory
//   for each result                                     a thread
//     for p: sum += parts[p]                            registers
#include <algorithm>

#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu_tensor.h"

namespace ashlar::schedules::detail {

std::int64_t terms_of_part(const Schedule& s, std::int64_t blocks, const Expr& terms, int block_k) {
  constexpr std::int64_t fewest = 512;  // terms of a part, because its sums are stored and loaded again
  const std::int64_t chip = s.target().device().multiprocessors, n = number_or(terms, 0);
  if (blocks <= 0 || blocks * 2 > chip || n < 2 * fewest) return 0;
  const std::int64_t parts = std::min(chip / blocks, n / fewest);
  return ((n + parts - 1) / parts + block_k - 1) / block_k * block_k;
}

Stage sums_of_parts(const Stage& product, std::int64_t part, Where where) {
  const Split parts = product.split(product.reduction(where), part, Tail::pad, where);  // both factors have zeros there
  const Stage sums = product.rfactor(parts.outer, Place::first, where);
  sums.compute_root(where);
  return sums;
}

void add_parts(Schedule& s, const Stage& product, const Stage& result, Where where) {
  gpu_points(s, result, {}, where);
  if (product.id() == result.id()) return;
  product.compute_at(result.nest(where).back(), where);
  product.store_in(Scope::registers, where);
}

}  // namespace ashlar::schedules::detail
