// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Buffers in Scope::fragment: which lane of a warp holds which element, and which blocks access them.
//
//   acc = s.cache_write(C, Scope::fragment)     acc is a grid of tiles of 16 x 8, as the intrinsic's operand C is held; a lane
//   acc.tensorize(ci, mma)                      has 4 registers of each tile
//
//   for fi in 64                                for fi_tile in 4, fj_tile in 4       unrolled
//     for fj in 32                        ->      for lane in 32
//       C[i + fi, j + fj] = acc[...]                for r in 4                       unrolled
//                                                     C[i + 16 fi_tile + lane / 4 + r / 2 * 8, ...] = its register r
//
// The instructions of `tensorize` calls determine how a buffer is held, and must agree. A buffer that is not an operand is held
// by the lanes that use it together with one that is. Every other block that uses the buffer is *distributed*: the loops over
// one tile are removed, and each lane does the iterations whose elements it holds. Invariant: each iteration of a block is done
// by one lane, which holds every fragment element that the iteration uses.
#include <map>
#include <optional>
#include <set>

#include <ashlar/analysis/fragment.h>
#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

struct HeldBuffer {
  ir::Id buffer = 0;
  Fragment tile;                   // one variable for each dimension of the buffer; dimensions that no operand has are 1 wide
  const ir::Stmt* loop = nullptr;  // the tensorized loop that determines this
  std::string operand;             // "C of mma_m16n8k16"
};

// One loop of a distributed block. The position o along a dimension of the tile has digits:
//   loop = o / divisor % modulus, or with modulus 0 (the last) o / divisor + whole * (the number of the tile).
struct TileDigit {
  ir::Id loop = 0, axis = 0;
  std::size_t dim = 0;
  std::int64_t divisor = 1, modulus = 0, whole = 1;
};

struct Distribution {
  ir::Id buffer = 0;                             // the buffer whose elements determine which lane does an iteration
  std::vector<TileDigit> digits;                 // outermost first
  std::map<ir::Id, std::vector<int>> registers;  // by buffer: which of its tile's registers an iteration touches that is
                                                 // register r of `buffer`'s
};

struct FragmentSites {
  std::map<ir::Id, HeldBuffer> held;           // by buffer
  std::map<ir::Id, Distribution> distributed;  // by block
  std::set<ir::Id> unrolled;                   // loops that choose among tiles
};

// The reason why the buffers cannot be held in fragments: the text of a refusal, and its line.
struct FragmentProblem {
  std::string primitive, expected, found;
  Where where;
};

// Regions must have been derived.
FragmentSites fragment_sites(const ir::Program&, std::optional<FragmentProblem>&);

// The alloc of a buffer used by the last statement of the path, and the length of the path to the list that contains it.
struct AllocAround {
  const ir::Stmt* alloc = nullptr;
  std::size_t depth = 0;
};
AllocAround alloc_around(const ir::Program&, const std::vector<const ir::Stmt*>& path, ir::Id buffer);

// The number of tiles along each dimension of the storage; empty if there is no constant bound.
std::vector<std::int64_t> tile_counts(const ir::Program&, const ir::Stmt& alloc, const Fragment& tile);

}  // namespace ashlar::analysis
