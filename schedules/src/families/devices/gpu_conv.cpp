// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/families/devices/gpu_conv.h"

#include <algorithm>
#include <tuple>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/devices/gpu_conv_tensor.h"
#include "schedules/src/families/devices/gpu_tensor.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr std::int64_t most_unrolled = 9, unknown = 1 << 20;  // taps of a window
constexpr std::int64_t most_of_tiles = 24576;                 // bytes: several blocks share a multiprocessor
constexpr double cheap = 16;                                  // operations of an image element that each tile may recompute

const Expr* loaded(const Expr& e) {
  if (ir::is(e, ir::Op::load)) return &e;
  return ir::is(e, ir::Op::cast) ? loaded(ir::args_of(e)[0]) : nullptr;
}

// Copies a whole tile by all threads of a block. `made`: a stage that produces its elements, computed while they are copied.
// `size`: the extents of the tile; empty if they are not numbers.
void copy_by_all(Schedule& s, const Stage& copy, ir::Id made, const std::vector<std::int64_t>& size, const Loop& at,
                 Where where) {
  copy.compute_at(at, where);
  std::vector<Loop> loops = copy.spatial_loops(where), order;
  if (!size.empty()) {  // with constant sizes, positions in the tile are multiplications by constants
    for (Loop& l : loops) {
      const Split whole = copy.split(l, size[static_cast<std::size_t>(&l - loops.data())], Tail::guard, where);
      order.push_back(whole.outer), l = whole.inner;
    }
    order.insert(order.end(), loops.begin(), loops.end());
    copy.reorder(order, where);
  }
  const Loop all = fused(copy, loops, where);
  copy.bind(all, gpu::threads, where);
  if (made) stage_of(s, made, where).compute_at(all, where).store_in(Scope::registers, where);
}

// The sizes of a block's results, and the window.
struct ConvSizes {
  GpuConvOptions options;
  std::int64_t taps_r = unknown, taps_s = unknown;
  bool known() const { return taps_r < unknown && taps_s < unknown; }
  std::int64_t rows(const ConvParts& p, std::int64_t n) const { return (n - 1) * p.stride_h + (taps_r - 1) * p.dilation_h + 1; }
  std::int64_t columns(const ConvParts& p, std::int64_t n) const {
    return (n - 1) * p.stride_w + (taps_s - 1) * p.dilation_w + 1;
  }
};

ConvSizes sizes_of(const Schedule& s, const Stage& sum, const ConvParts& p, const GpuConvOptions& given, Where where) {
  ConvSizes sizes{given};
  GpuConvOptions& o = sizes.options;
  const std::vector<Loop> d = sum.spatial_loops(where), t = sum.reduction_loops(where);
  sizes.taps_r = number_or(t[p.r].extent(where), unknown), sizes.taps_s = number_or(t[p.s].extent(where), unknown);
  const auto tile = [&](const Loop& over, int least, int most) {  // a power of two
    int n = least;
    while (n < most && n < number_or(over.extent(where), most)) n *= 2;
    return n;
  };
  const int most = s.target().device().max_threads;
  if (o.block_w == 0) o.block_w = tile(d[p.w], 8, 32);
  if (o.block_h == 0) o.block_h = tile(d[p.h], 1, 8);
  if (o.block_o == 0) {
    o.block_o = std::max(tile(d[p.o], 8, 64), o.thread_o);
    while (o.block_o > o.thread_o && o.block_o / o.thread_o * o.block_w > most) o.block_o /= 2;
  }
  if (o.block_c > 0) return sizes;
  o.block_c = 4;
  const std::int64_t bytes = definition(s, sum).values.front().type().bytes();
  const std::int64_t channel =
      sizes.known() ? bytes * (sizes.rows(p, o.block_h) * sizes.columns(p, o.block_w) + o.block_o * sizes.taps_r * sizes.taps_s)
                    : 0;
  while (o.block_c > 1 && o.block_c * channel > std::min<std::int64_t>(most_of_tiles, s.target().device().shared_bytes))
    o.block_c /= 2;
  return sizes;
}

}  // namespace

namespace detail {

std::optional<ConvParts> conv_parts(const ir::Program& p, const ir::Stage& sum) {
  const auto dims = spatial_of(sum), terms = reduce_of(sum);
  if (sum.reducer.kind != ir::ReducerKind::sum || sum.scatters() || sum.is_recurrence() || sum.values.size() != 1 ||
      dims.size() != 4 || terms.size() != 3 || !ir::is(sum.values.front(), ir::Op::mul))
    return {};
  const Expr *x = loaded(ir::args_of(sum.values.front())[0]), *w = loaded(ir::args_of(sum.values.front())[1]);
  if (!x || !w || ir::args_of(*x).size() != 4 || ir::args_of(*w).size() != 4) return {};
  const auto place = [](const std::vector<ir::IterVar>& all, ir::Id v) {
    return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.id == v; }) -
                                    all.begin());
  };
  ConvParts c;
  std::vector<std::size_t> image, window, dims_of_w, terms_of_w;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and dilation
  std::size_t channels = 0, images = 0;
  for (const Expr& e : ir::args_of(*x)) {
    const Index i = index_of(e, sum);
    if (i.bent || i.symbolic || i.from_data || i.coefficients.empty() || i.coefficients.size() > 2) return {};
    std::size_t dim = 4, term = 3;
    std::pair<std::int64_t, std::int64_t> step;
    for (const auto& [v, k] : i.coefficients) {
      if (place(dims, v) < 4) dim = place(dims, v), step.first = k;
      if (place(terms, v) < 3) term = place(terms, v), step.second = k;
    }
    if (i.coefficients.size() == 2) {
      if (dim == 4 || term == 3 || i.constant != 0 || step.first < 1 || step.second < 1) return {};
      c.image_dims.push_back(image.empty() ? ConvParts::row : ConvParts::column);
      image.push_back(dim), window.push_back(term), steps.push_back(step);
    } else if (dim < 4 && i.plain(dims[dim].id)) {
      c.n = dim, ++images, c.image_dims.push_back(ConvParts::batch);
    } else if (term < 3 && i.plain(terms[term].id)) {
      c.c = term, ++channels, c.image_dims.push_back(ConvParts::channel);
    } else {
      return {};
    }
  }
  for (const Expr& e : ir::args_of(*w)) {
    const Index i = index_of(e, sum);
    if (i.coefficients.size() != 1 || !i.plain(i.coefficients.begin()->first)) return {};
    const std::size_t dim = place(dims, i.coefficients.begin()->first), term = place(terms, i.coefficients.begin()->first);
    if (dim < 4) dims_of_w.push_back(dim);
    if (term < 3) terms_of_w.push_back(term);
  }
  if (images != 1 || channels != 1 || image.size() != 2 || dims_of_w.size() != 1 || terms_of_w.size() != 3) return {};
  c.o = dims_of_w[0], c.h = image[0], c.w = image[1], c.r = window[0], c.s = window[1];
  std::tie(c.stride_h, c.dilation_h) = steps[0], std::tie(c.stride_w, c.dilation_w) = steps[1];
  const std::size_t all_dims[] = {c.n, c.o, c.h, c.w}, all_terms[] = {c.c, c.r, c.s};
  for (std::size_t k = 0; k < 4; ++k)
    if (std::count(std::begin(all_dims), std::end(all_dims), k) != 1) return {};
  for (std::size_t k = 0; k < 3; ++k)
    if (std::count(std::begin(all_terms), std::end(all_terms), k) != 1) return {};
  c.image = x->node()->id, c.weights = w->node()->id;
  const ir::Id made = p.buffer(c.image).stage;
  if (made && !p.stage(made).is_reduction() && !p.stage(made).scatters() && !p.stage(made).is_recurrence() &&
      p.stage(made).values.size() == 1 && cost_of(p.stage(made)) <= cheap &&
      readers_of(p, p.stage(made)) == std::vector<ir::Id>{sum.id} && !is_output(p, p.stage(made)))
    c.rim = made;
  return c;
}

}  // namespace detail

void gpu_conv(Schedule& s, const Stage& sum, const Stage& result, const GpuConvOptions& given, Where where) {
  const AtLine line(where);
  const char* family = "gpu_conv";
  expect_device(family, s, where);
  for (const auto& [name, value, least] : {std::tuple{"block_o", given.block_o, 0},
                                           {"block_h", given.block_h, 0},
                                           {"block_w", given.block_w, 0},
                                           {"thread_o", given.thread_o, 1},
                                           {"block_c", given.block_c, 0}})
    expect_option(family, name, value, least, where);
  const bool alone = sum.id() == result.id();
  const bool own_tiles = given.block_o > 0 || given.block_h > 0 || given.block_w > 0 || given.block_c > 0;
  const ir::Stage& of_result = definition(s, result);
  const auto require_points = [&] {
    if (of_result.spatial_rank() != definition(s, sum).spatial_rank() || (!alone && of_result.is_reduction()))
      refuse(family, "an elementwise result with the dimensions of the sum", of_result.name, where);
  };
  if (const auto cores = tensor_conv(s.scheduled().program, definition(s, sum)); cores && given.tensor_cores && !own_tiles)
    if (const auto block = conv_on_tensor_cores(s, sum, *cores, where)) {
      require_points();
      const Stage sums = alone ? s.cache_write(result, Scope::fragment, where) : sum;
      if (!alone) sums.store_in(Scope::fragment, where);
      conv_by_tensor_cores(s, sums, result, *cores, *block, where);
      return;
    }
  const auto found = conv_parts(s.scheduled().program, definition(s, sum));
  if (!found)
    refuse(family, "a sum over channels and two dimensions of a window, of an image and weights, without groups",
           definition(s, sum).name, where);
  require_points();
  const ConvParts p = *found;
  const ConvSizes sizes = sizes_of(s, sum, p, given, where);
  const GpuConvOptions& o = sizes.options;
  if (o.block_o % o.thread_o != 0)
    refuse(family, "a thread_o that divides block_o, " + std::to_string(o.block_o), std::to_string(o.thread_o), where);
  expect_threads(family, "block_o / thread_o * block_w", s, std::int64_t{o.block_o} / o.thread_o * o.block_w, where);
  const Stage sums = alone ? s.cache_write(result, Scope::registers, where) : sum;

  const Stage x = s.cache_read(tensor_of(s, p.image, where), {sums}, Scope::shared, Operand(0, where), where),
              w = s.cache_read(tensor_of(s, p.weights, where), {sums}, Scope::shared, Operand(0, where), where);
  const std::vector<Stage> starts = start_copies(s, sums, Scope::global, where);
  std::vector<Loop> d = result.spatial_loops(where);
  const Split channels = result.split(d[p.o], o.block_o, Tail::cover, where),
              rows = result.split(d[p.h], o.block_h, Tail::cover, where),
              columns = result.split(d[p.w], o.block_w, Tail::cover, where);
  const Split threads = result.split(channels.inner, o.thread_o, Tail::exact, where);
  const std::vector<Loop> order{d[p.n],        channels.outer, rows.outer,    columns.outer,
                                threads.outer, columns.inner,  threads.inner, rows.inner};
  result.reorder(order, where);
  result.bind(d[p.n], gpu::block_z, where).bind(channels.outer, gpu::block_y, where);
  result.bind(result.fuse(rows.outer, columns.outer, where), gpu::block_x, where);
  result.bind(threads.outer, gpu::thread_y, where).bind(columns.inner, gpu::thread_x, where);
  result.unroll(threads.inner, where).unroll(rows.inner, where);

  sums.compute_at(columns.inner, where).store_in(Scope::registers, where);
  d = sums.spatial_loops(where);
  const std::vector<Loop> t = sums.reduction_loops(where);
  const Split steps = sums.split(t[p.c], o.block_c, Tail::pad, where);  // both factors have zeros there
  const Split own_o = sums.split(d[p.o], o.thread_o, Tail::pad, where), own_h = sums.split(d[p.h], o.block_h, Tail::pad, where);
  const std::vector<Loop> inside{steps.outer, d[p.n], d[p.w], own_o.outer, own_h.outer,
                                 steps.inner, t[p.r], t[p.s], own_o.inner, own_h.inner};
  sums.reorder(inside, where);
  if (sizes.taps_s <= most_unrolled) sums.unroll(t[p.s], where);
  if (sizes.taps_r * sizes.taps_s <= most_unrolled) sums.unroll(t[p.r], where);
  sums.unroll(own_o.inner, where).unroll(own_h.inner, where);
  for (const Stage& start : starts) {
    start.compute_at(columns.inner, where);
    if (s.attempt([&] {
          for (const Loop& l : start.spatial_loops(where))
            start.unroll(start.split(l, o.thread_o, Tail::pad, where).inner, where);
          start.store_in(Scope::registers, where);
        }))
      start.store_in(Scope::stack, where);
  }
  std::vector<std::int64_t> tile;
  if (sizes.known()) {
    const std::int64_t by_dim[] = {1, o.block_c, sizes.rows(p, o.block_h), sizes.columns(p, o.block_w)};
    for (const std::size_t k : p.image_dims) tile.push_back(by_dim[k]);
  }
  copy_by_all(s, x, p.rim, tile, steps.outer, where);
  copy_by_all(s, w, 0, {}, steps.outer, where);
}

}  // namespace ashlar::schedules
