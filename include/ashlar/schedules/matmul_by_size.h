#pragma once
// C[i, j] = sum over k of A[i, k] B[k, j] for all sizes: the entry chooses by the extents.
//
//   one row, or few       B is read once, as it lies                 matmul_skinny.h
//   B in the caches       nothing is packed                          matmul_direct.h
//   else                  panels                                     matmul.h
#include <ashlar/analysis/simplify.h>
#include <ashlar/schedules/matmul.h>
#include <ashlar/schedules/matmul_direct.h>
#include <ashlar/schedules/matmul_skinny.h>

namespace ashlar::schedules {

// Of matrices alone: nothing stands before i and j, B is read at [k, j]. What is fused into a tile afterwards is so in the last
// case only.
inline void matmul_by_size(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                           Where where = Where::current()) {
  const Type type = detail::product_type("matmul_by_size", s, s[stage], 3, where);
  const std::vector<Loop> nest = s[stage].nest(where);
  const Expr rows = nest[0].extent(), columns = nest[1].extent(), depth = nest[2].extent();
  const detail::MatmulBlocks b(s.target(), type, options);
  // Whether the condition is known to hold; where the call decides, the steps are those of its variant.
  const auto where_true = [&](const Expr& condition, auto steps) {
    std::int64_t known = 0;
    const bool decided = ir::is_int(analysis::simplify(condition), &known);
    if (decided ? known != 0 : true) steps(decided ? s : s.specialize(condition, where));
    return decided && known != 0;
  };
  if (where_true(rows <= 8 && rows % 4 == 0, [&](Schedule& v) { matmul_skinny(v, stage, {.tile_i = 4}, where); })) return;
  if (where_true(rows <= 8, [&](Schedule& v) { matmul_skinny(v, stage, {.tile_i = 1}, where); })) return;
  const std::int64_t in_cache = s.target().cache_bytes(2) / type.bytes();
  if (!b.by_lane && where_true(rows >= b.rows && columns % b.columns == 0 && columns * depth <= in_cache,
                               [&](Schedule& v) { matmul_direct(v, stage, options, where); }))
    return;
  matmul(s, stage, A, B, options);
}

}  // namespace ashlar::schedules
