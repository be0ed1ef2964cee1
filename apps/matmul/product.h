#pragma once
// Matrix products in f32 for extents of any size: packed panels, a tile of registers, k in blocks that accumulate through
// memory; bias and activation are applied to a tile when its last block of k has been added.
//
//   matmul         C = A B
//   matmul_bias    C = activation(A B + bias)
//
//   for jc   (block_j panels of B)
//     for ko   (block_k at a time)
//       B panels: tile_j columns each, k after k, zeros past N              in parallel; they stay in the second-level cache
//       for io   (tile_i rows)                                              in parallel
//         A panel: tile_i rows of this block of k, row after row            it stays in the first-level cache
//         for jm   (tile_j columns: one panel of B)
//           partial, tile_i x tile_j sums in registers: for ki, one row of the B panel times one column of the A panel
//           product += partial, the first block stores
//           C = activation(product + bias), after the last block
#include <ashlar/generator/generator.h>
#include <ashlar/schedule/instructions/arm.h>
#include <ashlar/schedule/instructions/shuffles.h>

#include <algorithm>

namespace product {

using namespace ashlar;

enum class Activation { none, relu, gelu };
}  // namespace product
template <>
struct ashlar::ParamNames<product::Activation> {
  static constexpr NamedValue<product::Activation> values[] = {
      {"none", product::Activation::none}, {"relu", product::Activation::relu}, {"gelu", product::Activation::gelu}};
};
namespace product {

class Product : public Generator {
 public:
  Param<int> tile_i{"tile_i", 0, between(0, 64), "rows of a register tile; 0: as many as the target's registers hold"};
  Param<int> block_k{"block_k", 384, between(1, 65536), "steps of k between two visits of C"};
  Param<int> block_j{"block_j", 0, between(0, 65536),
                     "panels of B in a block; 0: as many as fill three quarters of the second-level cache"};
  Param<int> ahead{"ahead", 32, between(0, 4096),
                   "steps of k that the panel of B is asked for before it is needed; 0: it is not"};
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}};

 protected:
  Tensor multiply(const char* name) {
    Axis k{"k", K};
    return compute(name, {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  }

  // Returns the loop at whose end a tile of `product` is up to date. `padded`: the product has storage of its own, which may be
  // written past the end of the matrix.
  Loop schedule_product(Schedule& s, const Tensor& product, bool padded) {
    const int lanes = s.target().lanes(f32), registers = s.target().vector_registers();
    const bool by_lane = s.target().architecture() == Architecture::aarch64 && tile_i % 4 == 0;
    // Two registers of B, and 2 x rows + 2 of B + 1 of A fit the file. Where an instruction takes its factor from one lane of a
    // register, four rows of A are one load, and 3 x 8 + 3 of B + 2 of A need fewer loads for a multiplication.
    const int columns = (by_lane ? 3 : 2) * lanes;
    const int rows = tile_i != 0 ? *tile_i : by_lane ? 8 : registers >= 32 ? 14 : 6;

    const std::int64_t panel_bytes = std::int64_t{block_k} * columns * 4, level2 = s.target().cache_bytes(2);
    const std::int64_t panels = block_j != 0 ? *block_j : std::max<std::int64_t>(1, level2 * 3 / 4 / panel_bytes);

    Stage b_panels = s.cache_read(B, {product}, Scope::global, 0.0f);
    Stage a_rows = s.cache_read(A, {product}, by_lane ? Scope::stack : Scope::global, 0.0f);

    const Tail tail = padded ? Tail::pad : Tail::guard;
    auto [i, j] = s[product].spatial<2>();
    Loop depth = s[product].reduction();
    if (by_lane) depth = s[product].split(depth, 4, Tail::pad).outer;  // behind the end of k there are zeros in both
    auto [ko, ki] = s[product].split(depth, by_lane ? (block_k + 3) / 4 : *block_k, Tail::guard);
    auto [io, ii] = s[product].split(i, rows, tail);
    auto [jo, ji] = s[product].split(j, columns, tail);
    auto [jc, jm] = s[product].split(jo, panels, Tail::guard);
    Stage a_panel = by_lane ? s.cache_read(a_rows, {product}, Scope::global) : a_rows;
    s[product].reorder(jc, ko, io, jm, ii, ji, ki).tighten(jm).tighten(ki);  // the four of a step stay innermost
    Stage partial = s[product].rfactor(ko);
    partial.compute_at(jm).store_in(Scope::registers);

    a_panel.compute_at(io);
    auto [ar, ak] = a_panel.spatial<2>();
    if (by_lane) {  // columns of tile_i floats: blocks of four by four, copied and transposed
      a_panel.transform_layout([&](Var r, Var k) { return at(r / rows, k, r % rows); });
      auto [a_tile, a_row] = a_panel.split(ar, rows, Tail::pad);
      auto [a_four, a_of_four] = a_panel.split(a_row, 4, Tail::exact);
      auto [a_block, a_lane] = a_panel.split(ak, lanes, Tail::pad);
      a_panel.reorder(a_tile, a_block, a_four, a_lane, a_of_four);
      a_rows.compute_at(a_four);
      a_rows.vectorize(a_rows.spatial<2>()[1]);
      a_panel.tensorize(a_lane, shuffles::transpose(f32, 4, lanes));
    } else {  // rows of block_k floats: a copy, where columns of tile_i would be a transposition
      a_panel.transform_layout([&](Var r, Var k) { return at(r / rows, r % rows, k); }).align(2, block_k);
      auto [a_tile, a_row] = a_panel.split(ar, rows, Tail::pad);
      auto [a_block, a_lane] = a_panel.split(ak, lanes, Tail::pad);
      a_panel.reorder(a_tile, a_row, a_block, a_lane).vectorize(a_lane);
    }

    // Row by row, as B lies in memory; eight rows at a time, so that two threads do not write next to each other.
    b_panels.compute_at(ko).transform_layout([&](Var k, Var c) { return at(c / columns, k, c % columns); });
    auto [bk, bj] = b_panels.spatial<2>();
    auto [b_panel, b_column] = b_panels.split(bj, columns, Tail::pad);
    auto [b_half, b_lane] = b_panels.split(b_column, lanes, Tail::exact);
    auto [b_rows, b_row] = b_panels.split(bk, 8, Tail::guard);
    b_panels.reorder(b_rows, b_row, b_panel, b_half, b_lane).tighten(b_row);
    b_panels.unroll(b_half).vectorize(b_lane).parallel(b_rows);

    auto [pi, pj, pk] = partial.spatial<3>();
    auto [pt, pr] = partial.split(pi, rows, Tail::pad);
    auto [pp, pc] = partial.split(pj, columns, Tail::pad);
    auto [p_half, p_lane] = partial.split(pc, lanes, Tail::exact);
    Loop step;
    if (by_lane) {
      auto [p_four, p_of_four] = partial.split(pr, 4, Tail::exact);
      auto [p_steps, p_in_step] = partial.reduction<2>();
      auto [p_k, p_once] = partial.split(p_in_step, 1, Tail::exact);
      step = p_steps;
      partial.reorder(pk, pt, pp, step, p_k, p_four, p_half, p_of_four, p_lane, p_once);
      partial.unroll(p_k).unroll(p_four).unroll(p_half).decompose_init(step).tensorize(p_of_four, arm::fmla_by_lane());
      const std::vector<Loop> start = partial.init().nest();
      for (std::size_t l = start.size() - 4; l + 1 < start.size(); ++l) partial.init().unroll(start[l]);
      partial.init().vectorize(start.back());
    } else {
      step = partial.reduction();
      partial.reorder(pk, pt, pp, step, pr, p_half, p_lane).unroll(pr).unroll(p_half).vectorize(p_lane);
    }
    if (ahead > 0) partial.prefetch(step, b_panels, by_lane ? (ahead + 3) / 4 : *ahead);

    auto [half, lane] = s[product].split(ji, lanes, Tail::exact);
    s[product].unroll(ii).unroll(half).vectorize(lane).parallel(io);
    return jm;
  }
};

class Matmul : public Product {
 public:
  Output C{"C", f32, {M, N}};
  void algorithm() override { C = multiply("C"); }
  void schedule(Schedule& s) override { schedule_product(s, C, false); }
};
class MatmulBias : public Product {
 public:
  Param<Activation> activation{"activation", Activation::relu};
  Input bias{"bias", f32, {N}};
  Output C{"C", f32, {M, N}};
  Tensor product;

  void algorithm() override {
    product = multiply("product");
    C = compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) {
      const Expr x = product(i, j) + bias(j);
      if (*activation == Activation::gelu) return 0.5f * x * (1.0f + erf(x * 0.70710678f));
      return *activation == Activation::relu ? max(x, 0.0f) : x;
    });
  }
  void schedule(Schedule& s) override {
    Loop tile = schedule_product(s, product, true);
    s[C].fuse_into(tile);
    s[C].vectorize(s[C].spatial<2>()[1], s.target().lanes(f32));
  }
};
}  // namespace product
