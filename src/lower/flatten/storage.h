// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where every buffer of a program lies and how a logical index becomes an element address.
//
//   address(A[i, k])  = (i - 0) * A.stride0 + (k - 0)                       an argument with rows of any stride
//   address(P[y, x])  = (y - y_lo) * 4096 + (x - x_lo)                      a temporary: dense over its storage extents
//
// Invariant: the strides of a temporary depend on symbols only, so that every access below its alloc uses the same ones; the
// low corner may depend on the loops around the alloc. An alloc below a vectorized loop is private to the lane: its address
// is multiplied by the number of lanes and the lane added.
#include <optional>
#include <vector>

#include <ashlar/analysis/fragment_sites.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/lower/lower.h>

namespace ashlar::lowering {

struct Lane {  // a vectorized loop around an alloc
  Expr value;  // counts from 0
  std::int64_t lanes = 1;
};

// Registers of the lanes of a warp (Scope::fragment): a grid of tiles, row-major, the registers of one tile after those of the
// tile before. An address is over the number of the tile; which register of it is known where the access stands.
struct FragmentPlace {
  std::vector<std::int64_t> shape, stride;  // by dimension: elements of a tile; tiles between neighbors
  std::int64_t registers = 0;               // of a tile, in each lane
  ir::Id lane = 0;                          // the variable of the access that tells lanes apart
  std::int64_t reg = 0;
};

struct Place {  // one buffer, or one alloc of it
  ir::Id kbuffer = 0;
  const ir::Buffer* buffer = nullptr;
  std::vector<Expr> lo, stride;                  // of physical dimensions, in elements
  std::vector<Expr> logical_lo, logical_extent;  // the box that may be read
  std::vector<Lane> lanes;
  std::optional<FragmentPlace> fragment;
  Expr address(const std::vector<Expr>& logical_index) const;  // not simplified
};

// An argument or a constant: adds its KBuffer and its stride arguments to the kernel.
Place place_argument(ir::Kernel&, ir::Program&, const ir::Buffer&);

// An alloc: adds its KBuffer, without an offset. `kbuffer`: the id it gets. `per_worker`: it stands inside a parallel loop.
Place place_alloc(ir::Kernel&, const ir::Program&, const ir::Stmt& alloc, ir::Id kbuffer, std::vector<Lane> lanes,
                  bool per_worker, const LowerOptions&);

// An alloc in Scope::fragment, held as the intrinsics that use it say.
Place place_fragment(ir::Kernel&, const ir::Program&, const ir::Stmt& alloc, ir::Id kbuffer, const analysis::HeldBuffer&);

// The life of a workspace buffer, as positions in the order of execution; both inclusive.
struct Life {
  ir::Id kbuffer = 0;
  std::size_t from = 0, to = 0;
};
// Gives every workspace buffer its offset and the kernel its two totals. Buffers whose lives do not meet share space.
void plan_workspace(ir::Kernel&, const ir::Program&, const std::vector<Life>&);

}  // namespace ashlar::lowering
