// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul_dot.h>

#include <algorithm>
#include <optional>

#include <ashlar/instructions/x86.h>
#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/matmul.h"
#include "schedules/src/families/matmul_dot.h"

namespace ashlar::schedules {

namespace detail {

std::optional<Dot> dot_of(const Target& t, Type a, Type b, bool as_zero, bool pairs_fit) {
  if (t.architecture() != Architecture::x86_64) return {};
  if (a == u8 && b == i8 && t.has("avx512vnni")) return Dot{x86::vpdpbusd(t.lanes(i32)), 4, false};
  if (a == u8 && b == i8 && t.has("avxvnni")) return Dot{x86::vpdpbusd(8, x86::Encoding::vex), 4, false};
  if (a == i8 && b == u8 && t.has("avx512vnni")) return Dot{x86::vpdpbusd_signed_broadcast(t.lanes(i32)), 4, false};
  if (a == i8 && b == u8 && t.has("avxvnni")) return Dot{x86::vpdpbusd_signed_broadcast(8, x86::Encoding::vex), 4, false};
  const bool bytes = (a == u8 || a == i8) && (b == u8 || b == i8);
  // Vectors of 512 bits hold bytes where avx512bw is.
  const bool whole = t.lanes(u8) == 4 * t.lanes(i32);
  if (a == u8 && b == i8 && pairs_fit && whole && t.has("avx2"))
    return Dot{x86::vpmaddubsw(x86::Pairs::fit, t.lanes(i32)), 4, false};
  if (bytes && whole && t.has("avx2")) return Dot{x86::vpmaddwd(t.lanes(i32)), 2, false, i16};
  if (bytes && whole) return Dot{x86::vpmaddwd_bytes(a, b, t.lanes(i32)), 4, false};
  if (a == bf16 && b == bf16 && as_zero && t.has("avx512bf16"))
    return Dot{x86::vdpbf16ps(x86::Subnormals::as_zero, t.lanes(f32)), 2, true};
  return {};
}

namespace {
struct PanelLoops {
  Loop panel, half, lane;
};
PanelLoops columns_in_lanes(const Stage& panels, Loop columns, const DotPanels& p) {
  auto [panel, column] = panels.split(columns, p.columns, Tail::pad);
  auto [half, lane] = panels.split(column, p.lanes, Tail::exact);
  return {panel, half, lane};
}
}  // namespace

Loop dot_panels_of_rows(const Stage& panels, const Stage& rows, const DotPanels& p, Loop at_block) {
  panels.compute_at(at_block).transform_layout(
      [&](Var r, Var c) { return at(c / p.columns, r / p.step, c % p.columns, r % p.step ^ p.exchange); });
  auto [bk, bj] = panels.spatial<2>();
  const auto [panel, half, lane] = columns_in_lanes(panels, bj, p);
  auto [steps, k] = panels.split(bk, p.step, Tail::exact);
  panels.reorder(steps, panel, half, lane, k);
  rows.compute_at(steps);
  rows.vectorize(rows.split(rows.spatial<2>()[1], p.columns, Tail::exact).inner);
  panels.tensorize(lane, shuffles::transpose(p.type, p.step, p.lanes));
  return steps;
}
Loop dot_panels_of_columns(const Stage& panels, const Stage& rows, const DotPanels& p, Loop at_block) {
  panels.compute_at(at_block).transform_layout(
      [&](Var c, Var r) { return at(c / p.columns, r / p.step, c % p.columns, r % p.step ^ p.exchange); });
  auto [bj, bk] = panels.spatial<2>();
  const auto [panel, half, lane] = columns_in_lanes(panels, bj, p);
  auto [run, of_run] = panels.split(bk, p.run, Tail::pad);
  auto [steps, k] = panels.split(of_run, p.step, Tail::exact);
  panels.reorder(panel, half, run, steps, lane, k);
  rows.compute_at(run);
  rows.vectorize(rows.spatial<2>()[1], p.run);
  panels.tensorize(lane, shuffles::move(p.type, p.lanes, p.step));
  return panel;
}

}  // namespace detail

void matmul_dot(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulDotOptions& options,
                Where where) {
  const AtLine line(where);
  detail::expect_option("matmul_dot", "tile_i", options.tile_i, 0, where);
  detail::expect_option("matmul_dot", "block_j", options.block_j, 0, where);
  const Stage C = s[stage];
  detail::product_type("matmul_dot", s, C, 3, where);
  const std::optional<detail::Dot> dot =
      detail::dot_of(s.target(), A.type(where), B.type(where), options.subnormals.has_value(), options.pairs.has_value());
  if (!dot)
    refuse("matmul_dot", "bytes by bytes on x86-64, or bf16 with subnormals as zero on a target with avx512bf16",
           ir::text(A.type(where)) + " by " + ir::text(B.type(where)) + " on " + std::string(s.target().text()), where);
  const int step = dot->step, lanes = s.target().lanes(i32);
  const int columns = 2 * lanes, rows = options.tile_i != 0 ? options.tile_i : s.target().vector_registers() >= 32 ? 13 : 6;
  const int block_bytes = options.block_bytes != 0 ? options.block_bytes : 1024;
  if (block_bytes < 4 || block_bytes % 4 != 0)
    refuse("matmul_dot", "block_bytes that are a multiple of 4", std::to_string(block_bytes), where);
  const int bytes = 4 / step, block_k = block_bytes / bytes, run = s.target().lanes(u8) / bytes;
  const std::int64_t panel_bytes = std::int64_t{columns} * block_bytes, level2 = s.target().cache_bytes(2);
  const std::int64_t panels = options.block_j != 0 ? options.block_j : std::max<std::int64_t>(1, 2 * level2 / panel_bytes);
  const int exchange = dot->reversed ? step - 1 : 0;  // which bits of the place in a step are the other way round

  // ---- the factors as they lie, zeros past their ends; then the loops
  Stage a_rows = s.cache_read(A, {C}, dot->reversed ? Scope::stack : Scope::global, 0),
        b_rows = s.cache_read(B, {C}, Scope::stack, 0);
  Stage a_panel = a_rows, b_panels = b_rows;
  const auto [io, ii, ji, ko, jm, partial] = detail::step_loops(C, {step, block_k / step, rows, columns, panels}, [&] {
    b_panels = s.cache_read(b_rows, {C}, Scope::global);
    if (dot->reversed) a_panel = s.cache_read(a_rows, {C}, Scope::global);
  });
  if (dot->packed) {
    a_rows.widen(*dot->packed), b_panels.widen(*dot->packed);
    b_rows.widen(*dot->packed);  // which the panels read
  }
  const Type of_b = dot->packed.value_or(B.type(where));

  // ---- A: rows as they are; or copied once more, with the elements of each step exchanged
  a_panel.compute_at(io).transform_layout([&](Var r, Var c) { return at(r / rows, r % rows, c ^ exchange); });
  a_panel.align(2, block_k);
  auto [ar, ak] = a_panel.spatial<2>();
  const Loop a_row = a_panel.split(ar, rows, Tail::pad).inner, a_run = a_panel.split(ak, run, Tail::pad).inner;
  if (!dot->reversed) {
    a_panel.vectorize(a_run);
  } else {
    const Loop a_step = a_panel.split(a_run, step, Tail::exact).outer;
    a_rows.compute_at(a_row);
    a_panel.tensorize(a_step, shuffles::move(A.type(where), run / step, step));
    a_rows.vectorize(a_rows.spatial<2>()[1], run);
  }

  const detail::DotPanels shape{of_b, step, lanes, columns, run, exchange};
  const Loop b_loop = options.transposed_b ? detail::dot_panels_of_columns(b_panels, b_rows, shape, ko)
                                           : detail::dot_panels_of_rows(b_panels, b_rows, shape, ko);
  if (options.parallel) b_panels.parallel(b_loop);

  // ---- the tile
  auto [pi, pj, pk] = partial.spatial<3>();
  auto [pt, pr] = partial.split(pi, rows, Tail::pad);
  auto [pp, pc] = partial.split(pj, columns, Tail::pad);
  auto [p_half, p_lane] = partial.split(pc, lanes, Tail::exact);
  auto [p_steps, p_k] = partial.reduction<2>();
  partial.reorder(pk, pt, pp, p_steps, pr, p_half, p_lane, p_k).unroll(pr).unroll(p_half).decompose_init(p_steps);
  partial.tensorize(p_lane, dot->instruction);
  const std::vector<Loop> start = partial.init().nest();
  partial.init().unroll(start[start.size() - 3]).unroll(start[start.size() - 2]).vectorize(start.back());

  auto [half, lane] = C.split(ji, lanes, Tail::exact);
  C.unroll(ii).unroll(half).vectorize(lane);
  if (options.parallel) C.parallel(io);
}

}  // namespace ashlar::schedules
