// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions by tensor cores: of each tap of the window a product of pixels by channels and channels by results. A block
// computes 8 rows x 16 columns x 64 results, each of its four warps 4 rows and 32 results of them in registers:
//
//   for co (16 channels of x)
//     x tile 10 x 18 x 16, w tile 3 x 3 x 16 x 64     shared memory, 16 bytes at a time; zeros past the end
//     for r, for s                                    unrolled up to 9 taps
//       4 x (16 columns x 16), 16 x 32 of w           registers, by ldmatrix: a row of it is 16 channels of one pixel
//       4 x 2 products of 16 x 16                     mma
//
// A row of ldmatrix lies anywhere, so the columns of a tap may be a stride apart: cache_terms makes a tile of what the results
// of a row read. Its elements are neighbors, so channels are neighbors in both tiles; with channels first the tiles are turned
// as they are copied, by single elements. Rows of a tile are 16 bytes longer than what they hold, so that the eight rows that
// ldmatrix reads at once lie in different banks.
//
// Of three image dimensions a block computes one point of the outermost, with the taps of it around those of the others. Of
// one, 8 groups of 16 columns take the place of the rows. With groups, a block computes results of one, fewer if it has fewer.
#include <algorithm>

#include <ashlar/instructions/ampere.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/devices/gpu_conv_tensor.h"
#include "schedules/src/families/devices/gpu_tensor.h"

namespace ashlar::schedules::detail {

namespace {

constexpr int sixteen = 16;                                    // columns, channels and results of an instruction
constexpr std::int64_t most_unrolled = 9, most_taps = 27;      // of a window, whose weights a block has in shared memory
constexpr std::int64_t pitch = sixteen + bytes_of_access / 2;  // elements from one row of 16 channels to the next

// Points of the image, along its dimension k, that a tile of a block has for that many taps.
std::int64_t points_under(const TensorConv& p, const ConvBlock& block, std::size_t k, std::int64_t taps) {
  const bool columns = k + 1 == p.rank();
  const std::int64_t points = columns ? sixteen * (p.rank() == 1 ? block.rows : 1) : k + 2 == p.rank() ? block.rows : 1;
  return (points - 1) * p.strides[k] + (taps - 1) * p.dilations[k] + 1;
}

class OnTensorCores {
 public:
  OnTensorCores(Schedule& schedule, const Stage& sums_, const Stage& result_, const TensorConv& parts, const ConvBlock& block,
                Where w)
      : s(schedule), sums(sums_), result(result_), p(parts), b(block), where(w), type(s.scheduled().program.buffer(p.x).type) {}

  void run() {
    const Stage x = s.cache_read(tensor_of(s, p.x, where), {sums}, Scope::shared, Operand(0, where), where),
                w = s.cache_read(tensor_of(s, p.w, where), {sums}, Scope::shared, Operand(0, where), where);
    const std::vector<Stage> starts = start_copies(s, sums, Scope::shared, where);
    over_blocks();
    sums.compute_at(warp_, where);
    for (const std::size_t tap : p.window)
      taps_.push_back(number_or(sums.reduction_loops(where)[tap].extent(where), most_taps));
    const std::vector<Loop> d = sums.spatial_loops(where), t = sums.reduction_loops(where);
    const Split steps = sums.split(t[p.c], sixteen, Tail::exact, where);
    // With strides the proof that columns are whole tiles may fail; what is computed past the end reads zeros.
    const Split columns = sums.split(d[p.image.back()], sixteen, strides() ? Tail::pad : Tail::exact, where),
                results = sums.split(d[p.o], sixteen, Tail::exact, where);
    std::vector<Loop> order{steps.outer};
    for (const std::size_t tap : p.window) order.push_back(t[tap]);
    order.push_back(d[p.n]);
    for (std::size_t k = 0; k + 1 < p.rank(); ++k) order.push_back(d[p.image[k]]);
    order.insert(order.end(), {columns.outer, results.outer, columns.inner, results.inner, steps.inner});
    sums.reorder(order, where);
    std::int64_t taps = 1;
    for (std::size_t k = p.rank(); k-- > 0;) {  // the inner ones
      taps *= taps_[k];
      if (taps <= most_unrolled) sums.unroll(t[p.window[k]], where);
    }
    for (const Stage& start : starts) {
      start.compute_at(warp_, where);
      start.bind(fused(start, start.spatial_loops(where), where), gpu::threads, where);
    }
    if (p.channels_last) {
      by_vectors(x, p.rim, steps.outer), by_vectors(w, 0, steps.outer);
    } else {
      turned(x, p.rim, steps.outer, true), turned(w, 0, steps.outer, false);
    }
    fragments(x, w, t[p.window.back()]);
    sums.decompose_init(steps.outer, where);
    sums.tensorize(columns.inner, ampere::mma(type, f32, ampere::Rounding::of_machine, where), where);
  }

 private:
  bool strides() const {
    return std::any_of(p.strides.begin(), p.strides.end(), [](std::int64_t n) { return n != 1; });
  }

  void over_blocks() {
    const std::vector<Loop> d = result.spatial_loops(where);
    Loop o = d[p.o], columns = d[p.image.back()];
    std::vector<Loop> blocks{d[p.n]};
    if (p.rank() == 3) blocks.push_back(d[p.image[0]]);
    const std::size_t outermost = blocks.size();
    if (p.results_of_group > 0) {
      const Split groups = result.split(o, p.results_of_group, Tail::exact, where);
      blocks.push_back(groups.outer), o = groups.inner;
    }
    const Split results = result.split(o, b.o, p.results_of_group > 0 ? Tail::exact : Tail::cover, where);
    blocks.push_back(results.outer);
    Split rows;
    if (p.rank() > 1) {
      rows = result.split(d[p.image[p.rank() - 2]], b.rows, Tail::cover, where);
      const Split own = result.split(columns, sixteen, Tail::cover, where);
      blocks.push_back(rows.outer), blocks.push_back(own.outer), columns = own.inner;
    } else {
      const Split all = result.split(columns, b.rows * sixteen, Tail::cover, where);
      rows = result.split(all.inner, sixteen, Tail::exact, where);
      blocks.push_back(all.outer), columns = rows.inner, rows.inner = rows.outer;
    }
    const Split own_rows = result.split(rows.inner, b.warp_rows, Tail::exact, where),
                own = result.split(results.inner, b.warp_o, Tail::exact, where);
    std::vector<Loop> order = blocks;
    order.insert(order.end(), {own_rows.outer, own.outer, own_rows.inner, columns, own.inner});
    result.reorder(order, where);
    warp_ = result.fuse(own_rows.outer, own.outer, where);
    const auto part = [&](std::size_t from, std::size_t to) {
      return fused(result,
                   {blocks.begin() + static_cast<std::ptrdiff_t>(from), blocks.begin() + static_cast<std::ptrdiff_t>(to)},
                   where);
    };
    const std::size_t image = blocks.size() - (p.rank() > 1 ? 2 : 1);
    result.bind(part(0, outermost), gpu::block_z, where).bind(part(outermost, image), gpu::block_y, where);
    result.bind(part(image, blocks.size()), gpu::block_x, where).bind(warp_, gpu::warp, where);
  }

  // A tile, 16 bytes at a time; `made`: the stage that it is a copy of, computed where it is copied.
  void by_vectors(const Stage& copy, ir::Id made, const Loop& at) {
    constexpr int elements = bytes_of_access / 2;
    copy.compute_at(at, where);
    std::vector<Loop> loops = copy.spatial_loops(where);
    copy.pad(static_cast<int>(loops.size()) - 1, elements, where);
    const Split parts = copy.split(loops.back(), elements, Tail::exact, where);
    loops.back() = parts.outer;
    const Loop all = fused(copy, loops, where);
    copy.bind(all, gpu::threads, where);
    if (made == 0) {
      copy.vectorize(parts.inner, gpu::any_alignment, where);
      return;
    }
    copy.vectorize(parts.inner, where);
    const Stage stage = stage_of(s, made, where);
    stage.compute_at(all, where).store_in(Scope::registers, where);
    stage.vectorize(stage.spatial_loops(where).back(), gpu::any_alignment, where);
  }

  // A tile with channels first, which lies with channels last: x[n, image, c], w[window, o, c].
  void turned(const Stage& copy, ir::Id made, const Loop& at, bool image) {
    copy.compute_at(at, where);
    std::vector<Loop> loops = copy.spatial_loops(where);
    if (p.rank() == 1 && image)
      copy.transform_layout([](Var n, Var c, Var w) { return ashlar::at(n, w * pitch + c); }, where);
    else if (p.rank() == 1)
      copy.transform_layout([](Var o, Var c, Var s_) { return ashlar::at(s_, o * pitch + c); }, where);
    else if (p.rank() == 2 && image)
      copy.transform_layout([](Var n, Var c, Var h, Var w) { return ashlar::at(n, h, w * pitch + c); }, where);
    else if (p.rank() == 2)
      copy.transform_layout([](Var o, Var c, Var r, Var s_) { return ashlar::at(r, s_, o * pitch + c); }, where);
    else if (image)
      copy.transform_layout([](Var n, Var c, Var d, Var h, Var w) { return ashlar::at(n, d, h, w * pitch + c); }, where);
    else
      copy.transform_layout([](Var o, Var c, Var q, Var r, Var s_) { return ashlar::at(q, r, s_, o * pitch + c); }, where);
    if (image) {  // with constant sizes, positions in the tile are divisions by constants
      std::vector<Loop> order;
      for (std::size_t k = 0; k < loops.size(); ++k) {
        const Split whole = copy.split(loops[k],
                                       k == 0   ? 1
                                       : k == 1 ? sixteen
                                                : points_under(p, b, k - 2, taps_[k - 2]),
                                       Tail::guard, where);
        order.push_back(whole.outer), loops[k] = whole.inner;
      }
      order.insert(order.end(), loops.begin(), loops.end());
      copy.reorder(order, where);
    }
    const Loop all = fused(copy, loops, where);
    copy.bind(all, gpu::threads, where);
    if (made) stage_of(s, made, where).compute_at(all, where).store_in(Scope::registers, where);
  }

  void fragments(const Stage& x, const Stage& w, const Loop& at) {
    const Stage left =
        strides() ? s.cache_terms(x, sums, Scope::fragment, where) : s.cache_read(x, {sums}, Scope::fragment, where);
    // The loops of left: n, image, c, with strides n, (point, tap) of each dimension, c; or c behind n.
    std::size_t column = strides() ? 2 * p.rank() - 1 : p.rank(), channel = strides() ? 2 * p.rank() + 1 : p.rank() + 1;
    if (!p.channels_last) ++column, channel = 1;
    fragment_tile(left, at, column, channel, ampere::load_left(type, ampere::Lies::rows, where));
    const Stage right = s.cache_read(w, {sums}, Scope::fragment, where);
    if (p.channels_last)
      fragment_tile(right, at, p.rank(), p.rank() + 1, ampere::load_right(type, ampere::Lies::columns, where));
    else
      fragment_tile(right, at, 0, 1, ampere::load_right(type, ampere::Lies::rows, where));
  }

  void fragment_tile(const Stage& copy, const Loop& at, std::size_t i, std::size_t j, const Intrinsic& load) {
    copy.compute_at(at, where);
    const std::vector<Loop> loops = copy.spatial_loops(where);
    const Tiles tile = copy.tile(loops[i], loops[j], sixteen, sixteen, Tail::exact, where);
    std::vector<Loop> order;
    for (std::size_t k = 0; k < loops.size(); ++k)
      if (k != i && k != j) order.push_back(loops[k]);
    order.insert(order.end(), {tile.outer_i, tile.outer_j, tile.inner_i, tile.inner_j});
    copy.reorder(order, where);
    copy.tensorize(tile.inner_i, load, where);
  }

  Schedule& s;
  const Stage sums, result;
  const TensorConv p;
  const ConvBlock b;
  const Where where;
  const Type type;
  Loop warp_;
  std::vector<std::int64_t> taps_;
};

}  // namespace

std::optional<ConvBlock> conv_on_tensor_cores(const Schedule& s, const Stage& sum, const TensorConv& p, Where where) {
  if (s.target().device().kind != Device::Kind::cuda || !s.target().has("sm_80")) return {};
  const std::vector<Loop> d = sum.spatial_loops(where), t = sum.reduction_loops(where);
  const std::int64_t channels = number_or(t[p.c].extent(where), 0), results = number_or(d[p.o].extent(where), 0);
  if (channels <= 0 || channels % sixteen != 0 || results <= 0 || (p.channels_last && results % 8 != 0)) return {};
  ConvBlock block;
  if (p.results_of_group > 0) {
    if (p.results_of_group % sixteen != 0) return {};
    while (p.results_of_group % block.o != 0) block.o /= 2;
    if (block.o < 64) block.warp_rows = 2, block.warp_o = block.o;
  }
  std::int64_t taps = 1, x = pitch;
  for (std::size_t k = 0; k < p.rank(); ++k) {
    const std::int64_t n = number_or(t[p.window[k]].extent(where), most_taps + 1);
    taps *= n, x *= points_under(p, block, k, n);
    if (n < 1 || taps > most_taps) return {};
  }
  const std::int64_t w = taps * (p.channels_last ? sixteen * (block.o + bytes_of_access / 2) : block.o * pitch);
  const std::int64_t bytes = s.scheduled().program.buffer(p.x).type.bytes();
  return (x + w) * bytes <= s.target().device().shared_bytes ? std::optional(block) : std::nullopt;
}

void conv_by_tensor_cores(Schedule& s, const Stage& sums, const Stage& result, const TensorConv& p, const ConvBlock& block,
                          Where where) {
  OnTensorCores(s, sums, result, p, block, where).run();
}

}  // namespace ashlar::schedules::detail
