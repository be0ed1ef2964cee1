// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Does a loop compute what an intrinsic means? Matching is unification: the loops from `loop` down to the single block in them
// match the variables of the description, the buffers that they use match its tiles, and loop-invariant values match its
// parameters and sizes.
//
//   for ai in 16            C[i, j] += sum over k of (i32(A[i, k]) - zero) * i32(B[k, j])
//     for aj in 16          i = ai, j = aj, k = ki;  C = acc at [io * 16, jo * 16], A = a at [io * 16, ko * 16], ...
//       for ki in 16        zero = the scalar zero
//         block acc
//
// Invariant: after a match, one evaluation of the description over the tiles stores the same bits as the loops. So sums match
// in the order of their terms, and conditions below the loop do not match. The operands of a product or a sum of two match in
// either order.
#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

struct TileSite {
  ir::Id buffer = 0;
  std::vector<Expr> base;                        // logical index of the tile's first element, over loops around
  std::vector<std::vector<std::int64_t>> steps;  // by dimension of the tile: what one step adds to each logical index
  std::vector<Expr> extents;                     // by dimension of the tile
};

struct IntrinsicMatch {
  bool matches = false;
  std::string expected, found;  // where it does not: both sides, and the piece in which they differ
  std::vector<TileSite> tiles;  // by operand of the intrinsic; empty for operands that are not tiles
  std::vector<Expr> values;  // by operand: of a parameter or a size, over loops around and loads that do not move with the tile
  std::vector<ir::Id> axes;  // of the loop and those inside it
  const ir::Stmt* block = nullptr;
};

// Regions must have been derived.
IntrinsicMatch match_intrinsic(const ir::Program&, const ir::Stmt& loop, const ir::Intrinsic&);

// Where a tile lies in its buffer's storage: the distance of neighbouring elements along each dimension of the tile, in
// elements; and the address of its first element from the buffer's start. Empty Exprs where the layout is not linear along
// the tile (a ring, a swizzle); a stride of the caller's is a var of its own.
struct TilePlace {
  std::vector<Expr> strides;
  Expr address;
};
TilePlace place_of_tile(const ir::Program&, const ir::Stmt& loop, const TileSite&);

// The address of one element, at a position in the tile that is over any variables the facts know; empty where the storage has
// no bound.
Expr address_in_tile(const ir::Program&, const TileSite&, std::span<const Expr> position, const Facts&);

// The position of the first element of the run whose address a lane gives, of a tile that is addressed by its lanes
// (IntrinsicOperand::map in memory); `lanes` of the group give one, `run` elements lie behind each.
struct LaneRuns {
  std::int64_t lanes = 0, run = 0;
  std::vector<Expr> first, at;  // by dimension: over the lane; over the lane and the distance
};
LaneRuns lane_runs(const ir::IntrinsicOperand&, int group, const Expr& lane, const Expr& distance);

// Row-major without gaps, for the extents it has? `dimension` is the first one (from the innermost) whose stride is another.
bool is_dense(const TileSite&, const TilePlace&, std::size_t dimension);

}  // namespace ashlar::analysis
