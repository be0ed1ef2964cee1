// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions by tensor cores: of each tap of the window a product of pixels by channels and channels by results. A block
// computes 8 rows x 16 columns x 64 channels, each of its four warps 4 rows and 32 channels of them in registers:
//
//   for co (16 channels of x)
//     x tile 10 x 18 x 16, w tile 3 x 3 x 16 x 64     shared memory, 16 bytes at a time; zeros past the end
//     for r, for s                                    unrolled up to 9 taps
//       4 x (16 columns x 16), 16 x 32 of w           registers, by ldmatrix: a row of it is 16 channels of one pixel
//       4 x 2 products of 16 x 16                     mma
//
// So channels are neighbors in x, and results in w; columns of one tap are neighbors, which a stride would take apart. Rows
// of a tile are 16 bytes longer than what they hold, so that the eight rows that ldmatrix reads at once lie in different banks.
#include <algorithm>

#include <ashlar/instructions/ampere.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/devices/gpu_conv.h"
#include "schedules/src/families/devices/gpu_tensor.h"

namespace ashlar::schedules::detail {

namespace {

constexpr int sixteen = 16;  // columns, channels and results of an instruction
constexpr int block_h = 8, block_o = 64, warp_h = 4, warp_o = 32;
constexpr std::int64_t most_unrolled = 9, most_taps = 25;  // of a window, whose weights a block has in shared memory

// A tile, 16 bytes at a time; `made`: the stage that it is a copy of, computed where it is copied.
void shared_tile(Schedule& s, const Stage& copy, ir::Id made, const Loop& at, Type type, Where where) {
  const int elements = bytes_of_access / type.bytes();
  copy.compute_at(at, where);
  copy.pad(3, elements, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops[3], elements, Tail::exact, where);
  const Loop all = fused(copy, {loops[0], loops[1], loops[2], parts.outer}, where);
  copy.bind(all, gpu::threads, where);
  if (made == 0) {
    copy.vectorize(parts.inner, gpu::any_alignment, where);
    return;
  }
  copy.vectorize(parts.inner, where);
  const Stage stage = stage_of(s, made, where);
  stage.compute_at(all, where).store_in(Scope::registers, where);
  stage.vectorize(stage.spatial_loops(where)[3], gpu::any_alignment, where);
}

void fragment_tile(const Stage& copy, const Loop& at, const Intrinsic& load, Where where) {
  copy.compute_at(at, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  copy.tensorize(copy.tile(loops[2], loops[3], sixteen, sixteen, Tail::exact, where).inner_i, load, where);
}

}  // namespace

bool conv_on_tensor_cores(const Schedule& s, const Stage& sum, const ConvParts& p, Where where) {
  if (s.target().device().kind != Device::Kind::cuda || !s.target().has("sm_80")) return false;
  const ir::Program& program = s.scheduled().program;
  const Type type = program.buffer(p.image).type;
  if (!(type == f16 || type == bf16) || !(program.buffer(p.weights).type == type)) return false;
  if (!(definition(s, sum).values.front().type() == f32) || !p.channels_last || p.stride_h != 1 || p.stride_w != 1)
    return false;
  const std::vector<Loop> d = sum.spatial_loops(where), t = sum.reduction_loops(where);
  const std::int64_t channels = number_or(t[p.c].extent(where), 0), results = number_or(d[p.o].extent(where), 0),
                     taps_r = number_or(t[p.r].extent(where), most_taps), taps_s = number_or(t[p.s].extent(where), most_taps),
                     taps = taps_r * taps_s;
  if (channels <= 0 || channels % sixteen != 0 || results <= 0 || results % 8 != 0 || taps < 1 || taps > most_taps)
    return false;
  const std::int64_t pad = bytes_of_access / type.bytes(),
                     x = (block_h + (taps_r - 1) * p.dilation_h) * (sixteen + (taps_s - 1) * p.dilation_w) * (sixteen + pad),
                     w = taps * sixteen * (block_o + pad);
  return (x + w) * type.bytes() <= s.target().device().shared_bytes;
}

void conv_by_tensor_cores(Schedule& s, const Stage& sums, const Stage& result, const ConvParts& p, Where where) {
  const Type type = s.scheduled().program.buffer(p.image).type;
  const Stage x = s.cache_read(tensor_of(s, p.image, where), {sums}, Scope::shared, Operand(0, where), where),
              w = s.cache_read(tensor_of(s, p.weights, where), {sums}, Scope::shared, Operand(0, where), where);
  const std::vector<Stage> starts = start_copies(s, sums, Scope::shared, where);

  std::vector<Loop> d = result.spatial_loops(where);
  const Split rows = result.split(d[p.h], block_h, Tail::cover, where),
              columns = result.split(d[p.w], sixteen, Tail::cover, where),
              channels = result.split(d[p.o], block_o, Tail::cover, where);
  const Split own_rows = result.split(rows.inner, warp_h, Tail::exact, where),
              own = result.split(channels.inner, warp_o, Tail::exact, where);
  result.reorder({d[p.n], where}, channels.outer, rows.outer, columns.outer, own_rows.outer, own.outer, own_rows.inner,
                 columns.inner, own.inner);
  const Loop warp = result.fuse(own_rows.outer, own.outer, where);
  result.bind(d[p.n], gpu::block_z, where).bind(channels.outer, gpu::block_y, where);
  result.bind(result.fuse(rows.outer, columns.outer, where), gpu::block_x, where).bind(warp, gpu::warp, where);

  sums.compute_at(warp, where);
  d = sums.spatial_loops(where);
  const std::vector<Loop> t = sums.reduction_loops(where);
  const Split steps = sums.split(t[p.c], sixteen, Tail::exact, where);
  const Tiles tile = sums.tile(d[p.w], d[p.o], sixteen, sixteen, Tail::exact, where);
  sums.reorder({steps.outer, where}, t[p.r], t[p.s], d[p.n], d[p.h], tile.outer_i, tile.outer_j, tile.inner_i, tile.inner_j,
               steps.inner);
  const std::int64_t taps_s = number_or(t[p.s].extent(where), most_taps);
  if (taps_s <= most_unrolled) sums.unroll(t[p.s], where);
  if (taps_s * number_or(t[p.r].extent(where), most_taps) <= most_unrolled) sums.unroll(t[p.r], where);
  for (const Stage& start : starts) {
    start.compute_at(warp, where);
    start.bind(fused(start, start.spatial_loops(where), where), gpu::threads, where);
  }
  shared_tile(s, x, p.rim, steps.outer, type, where);
  shared_tile(s, w, 0, steps.outer, type, where);
  fragment_tile(s.cache_read(x, {sums}, Scope::fragment, where), t[p.s], ampere::load_left(type, ampere::Lies::rows, where),
                where);
  fragment_tile(s.cache_read(w, {sums}, Scope::fragment, where), t[p.s], ampere::load_right(type, ampere::Lies::columns, where),
                where);
  sums.decompose_init(steps.outer, where);
  sums.tensorize(tile.inner_i, ampere::mma(type, f32, ampere::Rounding::of_machine, where), where);
}

}  // namespace ashlar::schedules::detail
