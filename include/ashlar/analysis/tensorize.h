// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Decides whether a loop computes the description of an intrinsic. Matching is unification: the loops from `loop` down to the
// single block in them match the variables of the description, the buffers that they use match its tiles, and loop-invariant
// values match its parameters and sizes.
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
  std::vector<std::vector<std::int64_t>> steps;  // by dimension of the tile: the change of each logical index in one step
  std::vector<Expr> extents;                     // by dimension of the tile
};

struct IntrinsicMatch {
  bool matches = false;
  std::string expected, found;  // if it does not match: both sides, and the part in which they differ
  std::vector<TileSite> tiles;  // by operand of the intrinsic; empty for operands that are not tiles
  std::vector<Expr> values;     // by operand: of a parameter or size, over outer loops and loads that do not move with the tile
  std::vector<ir::Id> axes;     // of the loop and those inside it
  const ir::Stmt* block = nullptr;
};

// Regions must have been derived.
IntrinsicMatch match_intrinsic(const ir::Program&, const ir::Stmt& loop, const ir::Intrinsic&);

// Where a tile lies in its buffer's storage: the distance of neighboring elements along each dimension of the tile, in
// elements; and the address of its first element from the buffer's start. Empty Exprs where the layout is not linear along
// the tile (a ring, a swizzle); a stride of the caller's is a var of its own.
struct TilePlace {
  std::vector<Expr> strides;
  Expr address;
};
TilePlace place_of_tile(const ir::Program&, const ir::Stmt& loop, const TileSite&);

// The address of the element at a position in the tile, over any variables that the facts cover; empty if the storage has no
// bound.
Expr address_in_tile(const ir::Program&, const TileSite&, std::span<const Expr> position, const Facts&);

// For a tile that is addressed by lanes (IntrinsicOperand::map in memory): the position of the first element of the run whose
// address a lane passes. `lanes` lanes of the group pass an address, each for a run of `run` elements.
struct LaneRuns {
  std::int64_t lanes = 0, run = 0;
  std::vector<Expr> first, at;  // by dimension: over the lane; over the lane and the distance
};
LaneRuns lane_runs(const ir::IntrinsicOperand&, int group, const Expr& lane, const Expr& distance);

// Whether the tile is row-major without gaps. If not, `dimension` is the innermost one with another stride.
bool is_dense(const TileSite&, const TilePlace&, std::size_t dimension);

}  // namespace ashlar::analysis
