// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul.h>

#include <algorithm>
#include <vector>

#include <ashlar/instructions/arm.h>
#include <ashlar/instructions/shuffles.h>
#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

namespace detail {

void expect_options(const char* family, const MatmulOptions& o, Where where) {
  expect_option(family, "tile_i", o.tile_i, 0, where);
  expect_option(family, "block_k", o.block_k, 0, where);
  expect_option(family, "block_j", o.block_j, 0, where);
  expect_option(family, "ahead", o.ahead, 0, where);
}
void expect_factor(const char* family, const char* expected, const Schedule& s, const Stage& product, const Stage& factor,
                   std::size_t row, std::size_t column, Where where) {
  const ir::Stage& d = definition(s, product);
  const ir::Id copied = definition(s, factor).buffers.front();
  ir::walk(d.values[0], [&](const Expr& e) {
    if (!ir::is(e, ir::Op::load) || e.node()->id != copied) return true;
    const auto at = ir::args_of(e);
    const auto is = [&](const Expr& index, std::size_t k) {
      return ir::is(index, ir::Op::var) && index.node()->id == d.iters[k].id;
    };
    if (at.size() < 2 || !is(at[at.size() - 2], row) || !is(at.back(), column))
      refuse(family, expected,
             "other indices in " + ir::text(d.values[0]) +
                 "; A is the factor with the rows of the product, B that with its columns",
             where);
    return true;
  });
}

bool reads_wider(const Schedule& s, const Stage& product, const Stage& copy, Type from, Type type) {
  const ir::Stage& d = definition(s, product);
  const ir::Id copied = definition(s, copy).buffers.front();
  const bool exact = from.is_float() ? type.is_float() && type.bits > from.bits
                                     : from.is_data_integer() && (type == f32 || type == f64 || type.is_signed()) &&
                                           from.bits <= 16 && type.bits >= 32;
  const auto is_read = [&](const Expr& e) { return ir::is(e, ir::Op::load) && e.node()->id == copied; };
  bool converted = exact && !is_read(d.values[0]);
  ir::walk(d.values[0], [&](const Expr& e) {
    for (const Expr& operand : ir::args_of(e))
      if (is_read(operand) && !(ir::is(e, ir::Op::cast) && e.type() == type)) converted = false;
    return converted;
  });
  return converted;
}

MatmulBlocks chosen_blocks(Schedule& s, const Stage& product, Type type, MatmulOptions o, bool widened, Where where) {
  const MatmulBlocks usual(s.target(), type, o, widened);
  std::vector<std::int64_t> rows;
  const int registers = s.target().vector_registers();
  if (usual.by_lane) rows = {4, 12};
  for (const int n : {1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14})
    if (!usual.by_lane && 2 * n + 3 <= registers) rows.push_back(n);
  o.tile_i = static_cast<int>(given_or_chosen(s, product, "tile_i", o.tile_i, usual.rows, rows, where));
  o.block_k = static_cast<int>(
      given_or_chosen(s, product, "block_k", o.block_k, usual.block_k, {64, 128, 192, 256, 384, 768, 1024, 2048}, where));
  const std::int64_t panels = MatmulBlocks(s.target(), type, o, widened).panels;
  o.block_j =
      static_cast<int>(given_or_chosen(s, product, "block_j", o.block_j, panels,
                                       {panels / 8, panels / 4, panels / 2, panels * 2, panels * 4, panels * 16}, where));
  return MatmulBlocks(s.target(), type, o, widened);
}

Type sum_type(const char* family, const Schedule& s, const Stage& stage, int most_loops, Where where) {
  const ir::Stage& d = definition(s, stage);
  if (d.reducer.kind != ir::ReducerKind::sum || d.values.size() != 1 ||
      d.spatial_rank() + 1 != static_cast<int>(d.iters.size()) || d.spatial_rank() < 2 ||
      static_cast<int>(d.iters.size()) > most_loops)
    refuse(family, "a sum over one dimension, of two to " + std::to_string(most_loops - 1) + " dimensions",
           d.name + (d.is_reduction() ? "" : ", which is not a sum"), where);
  if (stage.nest(where).size() != d.iters.size())
    refuse(family, "a stage whose loops are as they were defined", d.name + ", which was scheduled before", where);
  return d.values[0].type();
}
Type product_type(const char* family, const Schedule& s, const Stage& stage, int most_loops, Where where) {
  expect_processor(family, s, where);
  return sum_type(family, s, stage, most_loops, where);
}

int rank_of(const Schedule& s, const Stage& stage) { return definition(s, stage).spatial_rank(); }

Loop pack_rows(const Stage& panel, int rank, const MatmulBlocks& b) {
  panel_layout(panel, rank, [&](Var r, Var k) { return at(r / b.rows, r % b.rows, k); });
  panel.align(rank, b.block_k);
  auto [r, k] = last<2>(panel);
  auto [tile, row] = panel.split(r, b.rows, Tail::pad);
  auto [block, lane] = panel.split(k, b.lanes, Tail::pad);
  panel.reorder(tile, row, block, lane).vectorize(lane);
  return block;
}

Loop pack_columns(const Stage& panel, const Stage& copied, int rank, const MatmulBlocks& b) {
  panel_layout(panel, rank, [&](Var r, Var k) { return at(r / b.rows, k, r % b.rows); });
  auto [r, k] = last<2>(panel);
  auto [tile, row] = panel.split(r, b.rows, Tail::pad);
  auto [four, of_four] = panel.split(row, 4, Tail::exact);
  auto [block, lane] = panel.split(k, b.lanes, Tail::pad);
  panel.reorder(tile, block, four, lane, of_four);
  copied.compute_at(four);
  copied.vectorize(last<1>(copied)[0]);
  panel.tensorize(lane, shuffles::transpose(f32, 4, b.lanes));
  return four;
}

Loop pack_transposed_a(const Stage& panel, int rank, const MatmulBlocks& b) {
  panel_layout(panel, rank, [&](Var k, Var r) { return at(r / b.rows, k, r % b.rows); });
  auto [k, r] = last<2>(panel);
  auto [tile, row] = panel.split(r, b.rows, Tail::pad);
  panel.reorder(k, tile, row);
  if (b.rows > 1) panel.vectorize(row);  // all of them as one vector: no store is masked
  return k;
}

Loop pack_b(const Stage& panels, int rank, const MatmulBlocks& b, bool parallel) {
  panel_layout(panels, rank, [&](Var k, Var c) { return at(c / b.columns, k, c % b.columns); });
  auto [k, j] = last<2>(panels);
  auto [panel, column] = panels.split(j, b.columns, Tail::pad);
  auto [half, lane] = panels.split(column, b.lanes, Tail::exact);
  auto [rows, row] = panels.split(k, 8, Tail::guard);
  panels.reorder(rows, row, panel, half, lane).tighten(row);
  panels.unroll(half).vectorize(lane);
  if (parallel) panels.parallel(rows);
  return panel;
}

Loop pack_transposed_b(const Stage& panels, const Stage& copied, Type type, int rank, const MatmulBlocks& b, bool parallel,
                       bool short_rows) {
  panel_layout(panels, rank, [&](Var c, Var k) { return at(c / b.columns, k, c % b.columns); });
  auto [j, k] = last<2>(panels);
  auto [panel, column] = panels.split(j, b.columns, Tail::pad);
  auto [part, lane] = panels.split(column, b.lanes, Tail::exact);
  auto [block, step] = panels.split(k, b.lanes, Tail::pad);
  panels.reorder(panel, part, block, step, lane);
  copied.compute_at(short_rows ? part : block);
  copied.vectorize(last<1>(copied)[0], b.lanes);
  panels.tensorize(step, shuffles::transpose(type, b.lanes, b.lanes));
  if (parallel) panels.parallel(panel);
  return short_rows ? part : block;
}

Loop register_tile(const Stage& partial, const MatmulBlocks& b) {
  if (!b.by_lane) {
    auto [i, j, block, k] = last<4>(partial);
    auto [tile, row] = partial.split(i, b.rows, Tail::pad);
    auto [panel, column] = partial.split(j, b.columns, Tail::pad);
    auto [half, lane] = partial.split(column, b.lanes, Tail::exact);
    partial.reorder(block, tile, panel, k, row, half, lane).unroll(row).unroll(half).vectorize(lane);
    return k;
  }
  auto [i, j, block, step, of_step] = last<5>(partial);
  auto [tile, row] = partial.split(i, b.rows, Tail::pad);
  auto [panel, column] = partial.split(j, b.columns, Tail::pad);
  auto [part, lane] = partial.split(column, b.lanes, Tail::exact);
  auto [four, of_four] = partial.split(row, 4, Tail::exact);
  auto [k, once] = partial.split(of_step, 1, Tail::exact);
  partial.reorder(block, tile, panel, step, k, four, part, of_four, lane, once);
  partial.unroll(k).unroll(four).unroll(part).decompose_init(step).tensorize(of_four, arm::fmla_by_lane());
  const std::vector<Loop> start = partial.init().nest();
  for (std::size_t l = start.size() - 4; l + 1 < start.size(); ++l) partial.init().unroll(start[l]);
  partial.init().vectorize(start.back());
  return step;
}

}  // namespace detail

MatmulLoops matmul(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options,
                   Where where) {
  const AtLine line(where);
  const Stage product = s[stage];
  const Type type = detail::product_type("matmul", s, product, 5, where);
  detail::expect_options("matmul", options, where);
  const detail::MatmulBlocks b =
      detail::chosen_blocks(s, product, type, options, A.type(where) != type || B.type(where) != type, where);
  const std::vector<Loop> nest = product.nest();
  const std::size_t batch = nest.size() - 3;

  Stage b_rows = s.cache_read(B, {product}, options.transposed_b ? Scope::stack : Scope::global, 0);
  const bool turned_a = b.by_lane && !options.transposed_a;
  Stage a_rows = s.cache_read(A, {product}, turned_a ? Scope::stack : Scope::global, 0);
  if (options.transposed_a)
    detail::expect_factor("matmul", "A read at [.., k, i]", s, product, a_rows, batch + 2, batch, where);
  else
    detail::expect_factor("matmul", "A read at [.., i, k]", s, product, a_rows, batch, batch + 2, where);
  if (options.transposed_b)
    detail::expect_factor("matmul", "B read at [.., j, k]", s, product, b_rows, batch + 1, batch + 2, where);
  else
    detail::expect_factor("matmul", "B read at [.., k, j]", s, product, b_rows, batch + 2, batch + 1, where);

  const Tail tail = options.padded ? Tail::pad : Tail::guard;
  const Loop i = nest[batch], j = nest[batch + 1];
  Loop depth = nest[batch + 2];
  if (b.by_lane) depth = product.split(depth, 4, Tail::pad).outer;  // behind the end of k there are zeros in both
  auto [ko, ki] = product.split(depth, b.by_lane ? (b.block_k + 3) / 4 : b.block_k, Tail::guard);
  auto [io, ii] = product.split(i, b.rows, tail);
  auto [jo, ji] = product.split(j, b.columns, tail);
  auto [jc, jm] = product.split(jo, b.panels, Tail::guard);
  Stage b_panels = options.transposed_b ? s.cache_read(b_rows, {product}, Scope::global) : b_rows;
  Stage a_panel = turned_a ? s.cache_read(a_rows, {product}, Scope::global) : a_rows;
  // Of A[.., k, i] several tiles are packed at once: as many neighbors in memory as a few lines of the cache hold.
  const Split tiles = options.transposed_a ? product.split(io, (63 + b.rows) / b.rows, Tail::guard) : Split{io, {}};
  if (options.transposed_a)
    product.reorder(jc, ko, tiles.outer, tiles.inner, jm, ii, ji, ki).tighten(tiles.inner);
  else
    product.reorder(jc, ko, io, jm, ii, ji, ki);
  product.tighten(jm).tighten(ki);  // the four of a step stay innermost
  Stage partial = product.rfactor(ko);
  partial.compute_at(jm).store_in(Scope::registers);

  // Narrower factors are converted where they are packed, once.
  const auto widened = [&](const Stage& panel, const Stage& rows, Type from) {
    if (!detail::reads_wider(s, partial, panel, from, type)) return;
    if (panel.id() != rows.id()) panel.widen(type);
    rows.widen(type);
  };
  widened(a_panel, a_rows, A.type(where));
  widened(b_panels, b_rows, B.type(where));

  a_panel.compute_at(tiles.outer);
  const int rank_a = detail::rank_of(s, a_panel), rank_b = detail::rank_of(s, b_panels);
  const Loop packs_a = options.transposed_a ? detail::pack_transposed_a(a_panel, rank_a, b)
                       : turned_a           ? detail::pack_columns(a_panel, a_rows, rank_a, b)
                                            : detail::pack_rows(a_panel, rank_a, b);
  b_panels.compute_at(ko);
  const bool parallel_b = batch == 0 && options.parallel;
  const Type packed_b = detail::definition(s, b_panels).values[0].type();
  const Loop packs_b = options.transposed_b ? detail::pack_transposed_b(b_panels, b_rows, packed_b, rank_b, b, parallel_b)
                                            : detail::pack_b(b_panels, rank_b, b, parallel_b);

  const Loop step = detail::register_tile(partial, b);
  if (options.ahead > 0) partial.prefetch(step, b_panels, b.by_lane ? (options.ahead + 3) / 4 : options.ahead);

  auto [half, lane] = product.split(ji, b.lanes, Tail::exact);
  product.unroll(ii).unroll(half).vectorize(lane);
  if (batch == 0) {
    if (options.parallel) product.parallel(tiles.outer);
  } else {
    Loop all = nest[0];
    for (std::size_t d = 1; d < batch; ++d) all = product.fuse(all, nest[d]);
    if (options.parallel) product.parallel(all);
  }
  return {tiles.outer, jm, packs_a, packs_b};
}

}  // namespace ashlar::schedules
