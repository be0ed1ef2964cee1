#pragma once
// Matrix products of narrow types, on the instructions that multiply and add several neighbours at once: C = A B with
//
//   matmul_u8s8    u8 and i8, summed in i32: four k a step
//   matmul_bf16    bf16, summed in f32: two k a step
//
// The loops are those of product.h. What differs is the packing: the elements that a step multiplies are neighbours in both
// panels, zeros fill the last step of k, and a panel of B is a transposition of so many rows at a time.
//
//   for jc   (block_j panels of B)
//     for ko   (block_k at a time)
//       B panels: tile_j columns, step after step, a column's elements of a step beside each other         in parallel
//       for io   (tile_i rows)                                                                              in parallel
//         A panel: tile_i rows of this block of k, row after row
//         for jm   (tile_j columns: one panel of B)
//           partial, tile_i x tile_j sums in registers: for each step one instruction a register, A's elements broadcast
//           C += partial, the first block stores
#include <ashlar/generator/generator.h>
#include <ashlar/schedule/instructions/shuffles.h>
#include <ashlar/schedule/instructions/x86.h>

#include <algorithm>

namespace product {

using namespace ashlar;

class Narrow : public Generator {
 public:
  Param<int> tile_i{"tile_i", 0, between(0, 64), "rows of a register tile; 0: as many as the target's registers hold"};
  Param<int> block_bytes{"block_bytes", 1024, between(4, 65536),
                         "bytes of a row of A between two visits of C, a multiple of 4"};
  Param<int> block_j{"block_j", 0, between(0, 65536),
                     "panels of B in a block; 0: as many as fill three quarters of the second-level cache"};
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};

 protected:
  // `step`: how many k the instruction takes. `reversed`: it adds the last of them first, so they lie the other way round in
  // the panels.
  void schedule_product(Schedule& s, const Tensor& A, const Tensor& B, const Tensor& C, int step, bool reversed,
                        const Intrinsic& dot) {
    const int lanes = s.target().lanes(i32);
    const int columns = 2 * lanes, rows = tile_i != 0 ? *tile_i : s.target().vector_registers() >= 32 ? 14 : 6;
    const int bytes = 4 / step, block_k = block_bytes / bytes, run = s.target().lanes(u8) / bytes;
    const std::int64_t panel_bytes = std::int64_t{columns} * block_bytes, level2 = s.target().cache_bytes(2);
    const std::int64_t panels = block_j != 0 ? *block_j : std::max<std::int64_t>(1, level2 * 3 / 4 / panel_bytes);
    const int exchange = reversed ? step - 1 : 0;  // which bits of the place in a step are the other way round

    // ---- loops of the product; behind the end of k there are zeros in both
    Stage a_rows = s.cache_read(A, {C}, reversed ? Scope::stack : Scope::global, 0),
          b_rows = s.cache_read(B, {C}, Scope::stack, 0);
    auto [i, j] = s[C].spatial<2>();
    auto [steps, k] = s[C].split(s[C].reduction(), step, Tail::pad);
    auto [ko, ki] = s[C].split(steps, block_k / step, Tail::guard);
    auto [io, ii] = s[C].split(i, rows, Tail::guard);
    auto [jo, ji] = s[C].split(j, columns, Tail::guard);
    auto [jc, jm] = s[C].split(jo, panels, Tail::guard);
    Stage b_panels = s.cache_read(b_rows, {C}, Scope::global);
    Stage a_panel = reversed ? s.cache_read(a_rows, {C}, Scope::global) : a_rows;
    s[C].reorder(jc, ko, io, jm, ii, ji, ki, k).tighten(jm).tighten(ki);
    Stage partial = s[C].rfactor(ko);
    partial.compute_at(jm).store_in(Scope::registers);

    // ---- A: rows as they are; or copied once more, with the elements of each step exchanged
    a_panel.compute_at(io).transform_layout([&](Var r, Var c) { return at(r / rows, r % rows, c ^ exchange); });
    a_panel.align(2, block_k);
    auto [ar, ak] = a_panel.spatial<2>();
    auto [a_tile, a_row] = a_panel.split(ar, rows, Tail::pad);
    (void)a_tile;
    auto [a_runs, a_run] = a_panel.split(ak, run, Tail::pad);
    (void)a_runs;
    if (!reversed) {
      a_panel.vectorize(a_run);
    } else {
      auto [a_step, a_k] = a_panel.split(a_run, step, Tail::exact);
      (void)a_k;
      a_rows.compute_at(a_row);
      a_panel.tensorize(a_step, shuffles::move(A.type(), run / step, step));
      auto [copy_runs, copy_lane] = a_rows.split(a_rows.spatial<2>()[1], run, Tail::exact);
      (void)copy_runs;
      a_rows.vectorize(copy_lane);
    }

    // ---- B: so many rows as a step has, copied side by side and transposed
    b_panels.compute_at(ko).transform_layout(
        [&](Var r, Var c) { return at(c / columns, r / step, c % columns, r % step ^ exchange); });
    auto [bk, bj] = b_panels.spatial<2>();
    auto [b_panel, b_column] = b_panels.split(bj, columns, Tail::pad);
    auto [b_half, b_lane] = b_panels.split(b_column, lanes, Tail::exact);
    auto [b_steps, b_k] = b_panels.split(bk, step, Tail::exact);
    b_panels.reorder(b_steps, b_panel, b_half, b_lane, b_k);
    b_rows.compute_at(b_steps);
    auto [r_run, r_lane] = b_rows.split(b_rows.spatial<2>()[1], columns, Tail::exact);
    (void)r_run;
    b_rows.vectorize(r_lane);
    b_panels.tensorize(b_lane, shuffles::transpose(B.type(), step, lanes)).parallel(b_steps);

    // ---- the tile
    auto [pi, pj, pk] = partial.spatial<3>();
    auto [pt, pr] = partial.split(pi, rows, Tail::pad);
    auto [pp, pc] = partial.split(pj, columns, Tail::pad);
    auto [p_half, p_lane] = partial.split(pc, lanes, Tail::exact);
    auto [p_steps, p_k] = partial.reduction<2>();
    partial.reorder(pk, pt, pp, p_steps, pr, p_half, p_lane, p_k).unroll(pr).unroll(p_half).decompose_init(p_steps);
    partial.tensorize(p_lane, dot);
    const auto start = partial.init().nest();
    partial.init().unroll(start[start.size() - 3]).unroll(start[start.size() - 2]).vectorize(start.back());

    auto [half, lane] = s[C].split(ji, lanes, Tail::exact);
    s[C].unroll(ii).unroll(half).vectorize(lane).parallel(io);
  }
};

class MatmulU8S8 : public Narrow {
 public:
  Input A{"A", u8, {M, K}}, B{"B", i8, {K, N}};
  Output C{"C", i32, {M, N}};

  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(i32(A(i, k)) * i32(B(k, j)), k); });
  }
  void schedule(Schedule& s) override {
    const bool wide = s.target().has("avx512vnni");
    schedule_product(s, A, B, C, 4, false, wide ? x86::vpdpbusd(s.target().lanes(i32)) : x86::vpdpbusd(8, x86::Encoding::vex));
  }
};

// The same bits as sums in the order of k, one block of k after another, but for subnormal numbers.
class MatmulBf16 : public Narrow {
 public:
  Input A{"A", bf16, {M, K}}, B{"B", bf16, {K, N}};
  Output C{"C", f32, {M, N}};

  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  }
  void schedule(Schedule& s) override {
    schedule_product(s, A, B, C, 2, true, x86::vdpbf16ps(x86::Subnormals::as_zero, s.target().lanes(f32)));
  }
};

}  // namespace product
