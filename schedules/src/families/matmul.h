// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of matmul.h.
#include <ashlar/schedules/matmul.h>

#include <algorithm>
#include <vector>

#include <ashlar/instructions/arm.h>
#include <ashlar/instructions/shuffles.h>
#include <ashlar/ir/print.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

void expect_options(const char* family, const MatmulOptions& o, Where where);
// The product reads the copy of a factor at its dimensions `row` and `column`, counted over those of the sum too.
void expect_factor(const char* family, const char* expected, const Schedule& s, const Stage& product, const Stage& factor,
                   std::size_t row, std::size_t column, Where where);

// The product reads a copy, of `from`, at a type that `widen` takes for it.
bool reads_wider(const Schedule& s, const Stage& product, const Stage& copy, Type from, Type type);

// The type of a stage that a family of products takes: one sum over one dimension, of at most so many.
Type sum_type(const char* family, const Schedule& s, const Stage& stage, int most_loops, Where where);
Type product_type(const char* family, const Schedule& s, const Stage& stage, int most_loops, Where where);

int rank_of(const Schedule& s, const Stage& stage);

// What a product is cut into, in elements.
struct MatmulBlocks {
  int lanes, rows, columns, block_k;
  std::int64_t panels;
  bool by_lane;  // instructions take a factor from one lane of a register: A in columns of four

  // `widened`: the factors are of narrower types than the sums.
  MatmulBlocks(const Target& t, Type type, const MatmulOptions& o, bool widened = false) {
    lanes = t.lanes(type);
    by_lane = t.architecture() == Architecture::aarch64 && type == f32 && o.tile_i % 4 == 0 && !widened;
    // Two registers of B, and 2 x rows + 2 of B + 1 of A fit the file; of 26 sums more divide the usual extents than of 28. By
    // lanes, four rows of A are one load, and 3 x 8 + 3 of B + 2 of A need fewer loads for a multiplication.
    columns = (by_lane ? 3 : 2) * lanes;
    rows = o.tile_i != 0 ? o.tile_i : by_lane ? 8 : t.vector_registers() >= 32 ? 13 : t.vector_registers() >= 16 ? 6 : 2;
    block_k = o.block_k != 0 ? o.block_k : 512;
    const std::int64_t panel_bytes = std::int64_t{block_k} * columns * type.bytes();
    panels = o.block_j != 0 ? o.block_j : std::max<std::int64_t>(1, 2 * t.cache_bytes(2) / panel_bytes);
  }
};

// The blocks of a product, with choices for the options that are left open.
MatmulBlocks chosen_blocks(Schedule&, const Stage& product, Type, MatmulOptions, bool widened, Where);

// The layout of a panel: `place` of the last two dimensions, behind those before them.
template <class F>
void panel_layout(const Stage& panel, int rank, F place) {
  if (rank == 2) panel.transform_layout([&](Var r, Var c) { return place(r, c); });
  if (rank == 3)
    panel.transform_layout([&](Var b, Var r, Var c) {
      const auto p = place(r, c);
      return at(b, p.index[0], p.index[1], p.index[2]);
    });
  if (rank == 4)
    panel.transform_layout([&](Var a, Var b, Var r, Var c) {
      const auto p = place(r, c);
      return at(a, b, p.index[0], p.index[1], p.index[2]);
    });
}

// The last N loops of a nest that is one loop a dimension.
template <std::size_t N>
std::array<Loop, N> last(const Stage& stage) {
  const std::vector<Loop> all = stage.nest();
  std::array<Loop, N> some;
  for (std::size_t k = 0; k < N; ++k) some[k] = all[all.size() - N + k];
  return some;
}

// Rows of block_k elements: a copy, where columns of tile_i would be a transposition.
Loop pack_rows(const Stage& panel, int rank, const MatmulBlocks& b);

// Columns of tile_i elements: blocks of four rows, copied and transposed.
Loop pack_columns(const Stage& panel, const Stage& copied, int rank, const MatmulBlocks& b);

// The same of A[.., k, i]: copied as it lies, tile_i columns of it at a time.
Loop pack_transposed_a(const Stage& panel, int rank, const MatmulBlocks& b);

// Row by row, as B lies in memory; eight rows at a time, so that two threads do not write next to each other.
Loop pack_b(const Stage& panels, int rank, const MatmulBlocks& b, bool parallel);

// B[.., j, k]: squares of one register by one, copied and transposed; whole rows are copied where they are short.
Loop pack_transposed_b(const Stage& panels, const Stage& copied, Type type, int rank, const MatmulBlocks& b, bool parallel,
                       bool short_rows = false);

// The tile of sums: tile_i x tile_j of them in registers for each step of k. Returns the loop over steps.
Loop register_tile(const Stage& partial, const MatmulBlocks& b);

// The loops of a product of matrices whose instruction takes `step` k at once; behind the end of k there are zeros in both
// factors. `panels` makes the copies that the tile reads, once rows, columns and steps past the last are known.
struct StepLoops {
  Loop io, ii, ji;  // tiles of rows, rows of a tile, columns of a tile
  Loop ko, jm;      // blocks of steps, panels of B in a block
  Stage partial;    // the tile of sums of a block of steps, in registers
};
struct StepTile {
  int step, steps, rows, columns;  // k at once; of them in a block; of a register tile
  std::int64_t panels;             // of B in a block
};
template <class F>
StepLoops step_loops(const Stage& C, const StepTile& t, F panels) {
  const auto [i, j] = C.spatial<2>();
  const auto [steps, k] = C.split(C.reduction(), t.step, Tail::pad);
  const auto [ko, ki] = C.split(steps, t.steps, Tail::guard);
  const auto [io, ii] = C.split(i, t.rows, Tail::guard);
  const auto [jo, ji] = C.split(j, t.columns, Tail::guard);
  const auto [jc, jm] = C.split(jo, t.panels, Tail::guard);
  panels();
  C.reorder(jc, ko, io, jm, ii, ji, ki, k).tighten(jm).tighten(ki);
  Stage partial = C.rfactor(ko);
  partial.compute_at(jm).store_in(Scope::registers);
  return {io, ii, ji, ko, jm, partial};
}

}  // namespace ashlar::schedules::detail
