// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/conv.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

namespace {

using namespace detail;

void conv_tile(Schedule& s, const Stage& stage, const Tensor& w, int lanes, int tile_w, Tail tail, const ConvOptions& o) {
  const Stage y = s[stage];
  Stage sums = s.cache_write(y, Scope::registers);
  auto [n, b, h, x, oi] = y.spatial<5>();
  auto [ho, hi] = y.split(h, o.tile_h, Tail::guard);
  auto [xo, xi] = y.split(x, tile_w, tail);
  auto [part, lane] = y.split(oi, lanes, Tail::exact);
  y.reorder(n, b, ho, xo, hi, xi, part, lane).unroll(hi).unroll(xi).unroll(part).vectorize(lane);
  sums.compute_at(xo);

  auto [sn, sb, sh, sx, so] = sums.spatial<5>();
  auto [c, r, q, ci] = sums.reduction<4>();
  auto [tile, pixel] = sums.split(sx, tile_w, Tail::guard);
  auto [half, l] = sums.split(so, lanes, Tail::exact);
  if (o.tile_h == 1) {  // which taps a row has may depend on the row
    sums.reorder(sn, sb, sh, tile, c, r, q, ci, pixel, half, l);
  } else {
    auto [row_tile, row] = sums.split(sh, o.tile_h, Tail::guard);
    sums.reorder(sn, sb, row_tile, tile, c, r, q, ci, row, pixel, half, l).unroll(row);
  }
  sums.unroll(pixel).unroll(half).vectorize(l);
  const Loop step = sums.fuse(q, ci);  // the channels of neighboring pixels lie behind each other, and so do their weights
  if (o.ahead > 0) sums.prefetch(step, w, o.ahead);
  if (o.parallel) y.parallel(y.fuse(y.fuse(y.fuse(n, b), ho), xo));
}

// Half cycles that a row of `width` pixels takes for each step of the sum, in tiles of so many pixels with `registers` sums a
// pixel: two multiply-adds a cycle, of which eight are under way at a time (eight sums leave none to spare, and take as long as
// nine), two loads a cycle, and something for the end of a tile.
std::int64_t row_cost(std::int64_t width, int pixels, int registers) {
  const int sums = pixels * registers;
  return (width + pixels - 1) / pixels * (2 * std::max({sums, 9, pixels + registers}) + 1);
}

// Every tile is whole: the last one of a row, of at least so many pixels, begins so much earlier. A width that is computed from
// a Symbol (by a stride) has guards instead: its tiles are not shown to stay within a constant size.
Tail conv_tail(const Expr& pixels) { return ir::is(pixels, ir::Op::div) ? Tail::guard : Tail::shift; }

}  // namespace

void rim(Schedule& s, const Stage& stage, int before, int after, const RimOptions& o, Where where) {
  detail::expect_processor("rim", s, where);
  detail::expect_option("rim", "before", before, 0, where);
  detail::expect_option("rim", "after", after, 0, where);
  const Stage copy = s[stage];
  auto [n, c, h, w, ci] = copy.spatial<5>(where);
  const Expr channels = ci.extent(where), row = w.extent(where) * channels;
  const int lanes = detail::lanes_of(s, copy);
  auto [vectors, lane] = copy.split(copy.fuse(w, ci, where), lanes, Tail::guard, where);
  copy.vectorize(lane, where);
  const Expr first = (before * channels + (lanes - 1)) / lanes;
  const Loop inside = copy.partition(vectors, first, where);
  copy.partition(inside, max(first, (row - after * channels) / lanes), where);
  if (o.parallel) copy.parallel(copy.fuse(copy.fuse(n, c, where), h, where), where);
}

void conv2d(Schedule& s, const Stage& stage, const Tensor& w, const ConvOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_processor("conv2d", s, where);
  detail::expect_option("conv2d", "tile_w", o.tile_w, 0, where);
  detail::expect_option("conv2d", "tile_h", o.tile_h, 1, where);
  detail::expect_option("conv2d", "ahead", o.ahead, 0, where);
  const Stage y = s[stage];
  const ir::Stage& d = detail::definition(s, y);
  if (d.reducer.kind != ir::ReducerKind::sum || d.spatial_rank() != 5 || d.iters.size() != 9)
    refuse("conv2d", "a sum over channels, window and channels of a block, of five dimensions", d.name, where);
  std::int64_t block = 0, width = 0;
  const int lanes = detail::lanes_of(s, y);
  const std::array<Loop, 5> all = y.spatial<5>(where);
  if (!ir::is_int(all[4].extent(where), &block) || block % lanes != 0)
    refuse("conv2d", "blocks of outputs of a multiple of " + std::to_string(lanes), ir::text(all[4].extent(where)), where);
  const int registers = static_cast<int>(block) / lanes;
  const int most = std::max(1, (s.target().vector_registers() - registers - 2) / (registers * o.tile_h));
  const Expr pixels = all[3].extent(where);
  if (ir::is_int(pixels, &width)) {
    int best = std::min(o.tile_w, most);
    for (int t = 1; o.tile_w == 0 && t <= most && t <= std::max<std::int64_t>(width, 1); ++t)
      if (best == 0 || row_cost(width, t, registers * o.tile_h) <= row_cost(width, best, registers * o.tile_h)) best = t;
    conv_tile(s, stage, w, lanes, best, Tail::shift, o);
    return;
  }
  const Expr points = detail::points_along(s, y, 3);
  for (int t = o.tile_w != 0 ? std::min(o.tile_w, most) : most; t > 1; t /= 2) {
    const std::optional<bool> wide = points.empty() ? std::nullopt : detail::known(s, points >= t);
    if (wide.value_or(true)) conv_tile(wide ? s : s.specialize(pixels >= t, where), stage, w, lanes, t, conv_tail(pixels), o);
    if (wide.value_or(false)) return;
  }
  conv_tile(s, stage, w, lanes, 1, Tail::guard, o);
}

}  // namespace ashlar::schedules
