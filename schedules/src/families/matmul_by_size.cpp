// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul_by_size.h>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>
#include <ashlar/schedules/matmul_direct.h>
#include <ashlar/schedules/matmul_skinny.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

void matmul_by_size(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options,
                    Where where) {
  const AtLine line(where);
  if (options.transposed_a) refuse("matmul_by_size", "A read at [i, k]", "transposed_a", where);
  if (options.transposed_b) refuse("matmul_by_size", "B read at [k, j]", "transposed_b", where);
  detail::expect_options("matmul_by_size", options, where);
  const Type type = detail::product_type("matmul_by_size", s, s[stage], 3, where);
  const std::vector<Loop> nest = s[stage].nest(where);
  const Expr rows = nest[0].extent(), columns = nest[1].extent(), depth = nest[2].extent();
  const detail::MatmulBlocks b(s.target(), type, options, A.type(where) != type || B.type(where) != type);
  // Whether the condition holds in all calls; where the call decides, the steps are those of its variant.
  const auto points = [&](std::size_t dim) { return detail::points_along(s, s[stage], dim); };
  const bool declared = !points(0).empty() && !points(1).empty() && !points(2).empty();
  const auto where_true = [&](auto condition, auto steps) {
    std::optional<bool> holds;
    if (declared) holds = detail::known(s, condition(points(0), points(1), points(2)));
    if (holds.value_or(true)) steps(holds ? s : s.specialize(condition(rows, columns, depth), where));
    return holds.value_or(false);
  };
  const auto few_by_four = [](const Expr& i, const Expr&, const Expr&) { return i <= 8 && i % 4 == 0; };
  const auto few = [](const Expr& i, const Expr&, const Expr&) { return i <= 8; };
  if (where_true(few_by_four,
                 [&](Schedule& v) { matmul_skinny(v, stage, {.tile_i = 4, .parallel = options.parallel}, where); }))
    return;
  // A row's parts are few numbers beside those of B; of four rows they are so many that one thread is slower.
  constexpr int part = 256;
  const auto few_and_deep = [](const Expr& i, const Expr&, const Expr& k) { return i <= 8 && k >= 8 * part; };
  if (where_true(few_and_deep, [&](Schedule& v) {
        matmul_skinny(v, stage, {.tile_i = 1, .part_k = part, .parallel = options.parallel}, where);
      }))
    return;
  if (where_true(few, [&](Schedule& v) { matmul_skinny(v, stage, {.tile_i = 1, .parallel = options.parallel}, where); }))
    return;
  const std::int64_t in_cache = s.target().cache_bytes(2) / 2 / type.bytes();  // the other half is for A, C and the system
  const auto cached = [&](const Expr& i, const Expr& j, const Expr& k) {
    return i >= b.rows && j % b.columns == 0 && j * k <= in_cache;
  };
  // Done before another thread has begun.
  const auto soon = [&](const Expr& i, const Expr& j, const Expr& k) { return cached(i, j, k) && i * j * k <= 1 << 20; };
  MatmulOptions serial = options;
  serial.parallel = false;
  if (!b.by_lane && options.parallel && where_true(soon, [&](Schedule& v) { matmul_direct(v, stage, serial, where); })) return;
  if (!b.by_lane && where_true(cached, [&](Schedule& v) { matmul_direct(v, stage, options, where); })) return;
  matmul(s, stage, A, B, options, where);
}

}  // namespace ashlar::schedules
