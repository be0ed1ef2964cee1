// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/matmul_bytes.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

void matmul_bytes(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulBytesOptions& options,
                  Where where) {
  const AtLine line(where);
  detail::expect_option("matmul_bytes", "block_j", options.block_j, 0, where);
  const Stage C = s[stage];
  const Type type = detail::product_type("matmul_bytes", s, C, 3, where);
  if (type != i32 || A.type(where) != i8 || B.type(where) != i8)
    refuse("matmul_bytes", "i8 by i8 summed in i32",
           ir::text(A.type(where)) + " by " + ir::text(B.type(where)) + " in " + ir::text(type), where);
  const int block_k = options.block_k != 0 ? options.block_k : 512;
  if (block_k < 8 || block_k % 8 != 0)
    refuse("matmul_bytes", "a block_k that is a multiple of 8", std::to_string(block_k), where);
  const bool by_lane = s.target().architecture() == Architecture::aarch64;
  const int step = s.target().has("i8mm") ? 8 : s.target().has("dotprod") ? 4 : 1;
  const int lanes = 4, rows = s.target().vector_registers() >= 32 ? 8 : 4, columns = step == 8 ? 8 : 12,
            together = step == 8 ? 2 : 4;  // rows that an instruction takes
  const std::int64_t panel_bytes = std::int64_t{columns} * block_k, level2 = s.target().cache_bytes(2);
  const std::int64_t panels = options.block_j != 0 ? options.block_j : std::max<std::int64_t>(1, level2 * 3 / 4 / panel_bytes);

  // ---- the factors as they lie, zeros past their ends; then the loops
  Stage a_rows = s.cache_read(A, {C}, Scope::stack, 0), b_rows = s.cache_read(B, {C}, Scope::stack, 0);
  Stage a_panel = a_rows, b_panels = b_rows;
  const auto [io, ii, ji, ko, jm, partial] = detail::step_loops(C, {step, block_k / step, rows, columns, panels}, [&] {
    a_panel = s.cache_read(a_rows, {C}, Scope::global), b_panels = s.cache_read(b_rows, {C}, Scope::global);
  });

  // ---- A: the elements of a step of so many rows side by side
  a_panel.compute_at(io).transform_layout([&](Var r, Var c) { return at(r / rows, c / step, r % rows, c % step); });
  auto [ar, ak] = a_panel.spatial<2>();
  auto [a_tile, a_row] = a_panel.split(ar, rows, Tail::pad);
  auto [a_group, a_of_group] = a_panel.split(a_row, together, Tail::exact);
  auto [a_run, a_of_run] = a_panel.split(ak, 16, Tail::pad);
  auto [a_step, a_k] = a_panel.split(a_of_run, step, Tail::exact);
  a_panel.reorder(a_tile, a_group, a_run, a_step, a_of_group, a_k).unroll(a_step);
  a_rows.compute_at(a_run);
  a_rows.vectorize(a_rows.spatial<2>()[1]);
  a_panel.tensorize(a_of_group, shuffles::move(i8, together, step));

  // ---- B: so many rows as a step has, transposed
  b_panels.compute_at(ko).transform_layout([&](Var r, Var c) { return at(c / columns, r / step, c % columns, r % step); });
  auto [bk, bj] = b_panels.spatial<2>();
  auto [b_panel, b_column] = b_panels.split(bj, columns, Tail::pad);
  auto [b_run, b_lane] = b_panels.split(b_column, lanes, Tail::exact);
  auto [b_steps, b_k] = b_panels.split(bk, step, Tail::exact);
  b_panels.reorder(b_steps, b_panel, b_run, b_lane, b_k);
  b_rows.compute_at(b_panel);
  b_rows.vectorize(b_rows.split(b_rows.spatial<2>()[1], lanes, Tail::exact).inner);
  b_panels.tensorize(b_lane, shuffles::transpose(i8, step, lanes));
  if (options.parallel) b_panels.parallel(b_steps);

  // ---- the tile
  auto [pi, pj, pk] = partial.spatial<3>();
  auto [pt, pr] = partial.split(pi, rows, Tail::pad);
  auto [pp, pc] = partial.split(pj, columns, Tail::pad);
  auto [p_group, p_row] = partial.split(pr, together, Tail::exact);
  auto [p_run, p_lane] = partial.split(pc, step == 8 ? 2 : lanes, Tail::exact);
  auto [p_steps, p_k] = partial.reduction<2>();
  if (step == 1 && !by_lane) {
    partial.reorder(pk, pt, pp, p_steps, p_k, p_group, p_row, p_run, p_lane).unroll(p_group).unroll(p_row).unroll(p_run);
    partial.vectorize(p_lane);
  } else {
    if (step == 8)  // the sums of an instruction are neighbors
      partial.transform_layout([&](Var r, Var c, Var b) { return at(b, r / 2, c / 2, r % 2, c % 2); });
    partial.reorder(pk, pt, pp, p_steps, p_group, p_run, p_row, p_lane, p_k)
        .unroll(p_group)
        .unroll(p_run)
        .decompose_init(p_steps);
    partial.tensorize(p_row, step == 8 ? arm::smmla() : step == 4 ? arm::sdot(arm::Left::lanes) : arm::smlal_by_lane());
    const std::vector<Loop> start = partial.init().nest();
    for (std::size_t l = start.size() - 4; l + 1 < start.size(); ++l) partial.init().unroll(start[l]);
    partial.init().vectorize(start.back());
  }

  auto [run, lane] = C.split(ji, step == 8 ? 2 : lanes, Tail::exact);
  C.unroll(ii).unroll(run).vectorize(lane);
  if (options.parallel) C.parallel(io);
}

}  // namespace ashlar::schedules
