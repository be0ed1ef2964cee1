// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Points with a few contiguous values each: the colors of pixels, the coordinates of places. The values of one point do not
// fill a vector. So vectors hold
//
//   together   all values of several points: element e of 48 is at (x + e / 3, e % 3). Of sums, where the terms are neighbors
//              then; of points, where lanes read patterns that shuffles make, rgb(y, x, 2 - c)
//   apart      one value of several points, each value in vectors of its own, which lie as [c, x] on the stack until they are
//              copied, shuffled, as [x, c]: values of which each has a formula of its own, points behind a border, strides
//
// Lanes at arbitrary places, x(row(i), c), would be gathered in either form, so these stay vectors of the values of one point.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::pixels;

struct Dims {
  Id point = 0, channel = 0;
  std::int64_t channels = 0;
};

std::optional<Dims> dims_of(const Draft& d, const ir::Stage& s, std::int64_t lanes) {
  const auto dims = spatial_of(s);
  const Target& target = d.s.target();
  if (dims.size() < 2 || target.is_gpu() || target.has("sve")) return {};
  const Dims r{dims[dims.size() - 2].id, dims.back().id, d.sizes().constant_extent(s, dims.back().id).value_or(0)};
  if (r.channels < 2 || 2 * r.channels > lanes) return {};
  return r;
}

// How a read moves along points and channels.
struct Along {
  int points = 0, channels = 0;  // indices that move with either
  bool anywhere = false;         // such an index is from data, or both are in one
  bool even = true;              // points move it by a number at a time
  std::int64_t step = 0;         // that number, in elements; 0: nobody knows
};
// The extent of a dimension of the tensor that is read, if it is a number; 0 otherwise.
std::int64_t extent_of(const Draft& d, const Reading& r, std::size_t dim) {
  const ir::Program& p = d.program();
  std::int64_t n = 0;
  if (r.producer) return d.sizes().constant_extent(p.stage(r.producer), p.stage(r.producer).iters[dim].id).value_or(0);
  return ir::is_int(p.buffer(r.buffer).extents[dim], &n) ? n : 0;
}

Along along(const Draft& d, const Reading& r, const Dims& dims) {
  Along a;
  std::int64_t row = 1;  // elements from one value of an index to the next one
  for (std::size_t k = r.at.size(); k-- > 0;) {
    const Index& x = r.at[k];
    const bool of_point = x.moves_with(dims.point), of_channel = x.moves_with(dims.channel);
    a.points += of_point, a.channels += of_channel;
    a.anywhere = a.anywhere || ((of_point || of_channel) && x.from_data) || (of_point && of_channel);
    if (of_channel) {
      const auto at = x.coefficients.find(dims.channel);
      a.anywhere = a.anywhere || x.bent || at == x.coefficients.end() || std::abs(at->second) != 1;
    }
    if (of_point) {
      const auto at = x.coefficients.find(dims.point);
      a.even = at != x.coefficients.end();
      if (a.even) a.step = row * at->second;
    }
    const std::int64_t extent = extent_of(d, r, k);
    row = row * extent <= longest_row ? row * extent : 0;
  }
  return a;
}

// Whether each value has its own formula, all of which every lane would compute. The wasted work is one arm of each select on
// the value: a load or a constant costs less than separating the values.
bool chooses_values(const ir::Stage& s, Id channel) {
  double wasted = 0;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::select) || !ir::uses_var(ir::args_of(e)[0], channel)) return true;
      for (const Expr& arm : ir::args_of(e).subspan(1))
        ir::walk(arm, [&](const Expr& x) {
          if (ir::is(x, ir::Op::load)) return ++wasted, false;
          if (!x.type().is_index() && x.node()->count > 0) wasted += cost_of(ir::op_of(x));
          return true;
        });
      return true;
    });
  return wasted > dear_arms && cost_of(s) > dear_choice;
}

// `phases`: tensors that are read one phase at a time, so that their points are contiguous.
bool together(const Draft& d, const ir::Stage& s, const Dims& dims, Id phases = 0) {
  const auto all = readings_of(d.program(), s);
  const auto terms = reduce_of(s);
  return std::all_of(all.begin(), all.end(), [&](const Reading& r) {
    const Along a = along(d, r, dims);
    if (a.anywhere || a.points > 1 || a.channels > 1) return false;
    if (!s.is_reduction()) {  // planes are converted before they are shuffled
      const bool planes = a.channels == 1 && a.points == 1 && !r.at.back().moves_with(dims.channel);
      return !planes && (a.points == 0 || !a.even || a.step == 0 || a.step <= widest_stride * dims.channels);
    }
    // a load for each term: neighbors, or what all values of all points share
    if (a.points > 0)
      return a.channels == 1 && (a.step == dims.channels || r.buffer == phases) && r.at.back().plain(dims.channel);
    return a.channels == 0 || std::none_of(terms.begin(), terms.end(), [&](const ir::IterVar& k) {
             return std::any_of(r.at.begin(), r.at.end(), [&](const Index& x) { return x.moves_with(k.id); });
           });
  });
}

bool apart(const Draft& d, const ir::Stage& s, const Dims& dims) {
  const auto all = readings_of(d.program(), s);
  return std::all_of(all.begin(), all.end(), [&](const Reading& r) {
    const Along a = along(d, r, dims);
    return !a.anywhere && a.points <= 1 && a.channels <= 1 &&
           (a.points == 0 || (a.even ? a.step != 0 && std::abs(a.step) <= widest_stride : !s.is_reduction()));
  });
}

// How many points of these values a copy may shuffle, at most `points`.
std::int64_t points_shuffled(const Draft& d, const Dims& dims, std::int64_t points) {
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(dims.channels));
  const std::int64_t widest = d.s.target().has("avx512bw") ? widest_shuffle_of_avx512
                              : power                      ? widest_shuffle_of_powers
                                                           : widest_shuffle;
  while (points > 2 && points * dims.channels > widest) points /= 2;
  return points;
}

}  // namespace

bool reads_neighbors(const Draft& d, const ir::Stage& s) {
  const auto dims = dims_of(d, s, lanes_of(d, s));
  return dims && together(d, s, *dims);
}

bool has_channels(const Draft& d, const ir::Stage& s, const std::vector<double>& window, bool alone) {
  const int lanes = lanes_of(d, s);
  const auto dims = dims_of(d, s, lanes);
  if (!dims || s.is_reduction() || window.back() != 0 || !together(d, s, *dims)) return false;
  if (alone && chooses_values(s, dims->channel) && apart(d, s, *dims)) return false;
  return d.sizes().extent(s, dims->point) >= 2 * static_cast<double>(lanes / dims->channels);
}

std::optional<Tile> tile_of_pixels(const Draft& d, const ir::Stage& s) {
  const std::int64_t lanes =
      s.is_reduction() ? std::max(1, d.s.target().lanes(d.program().buffer(s.buffers.front()).type)) : lanes_of(d, s);
  const auto dims = dims_of(d, s, lanes);
  if (!dims || bounds_terms(s, dims->point) || bounds_terms(s, dims->channel)) return {};
  Tile t;
  t.columns = static_cast<int>(spatial_of(s).size()) - 1, t.columns_by = dims->channels;
  t.pixels = t.columns - 1, t.pixels_by = std::min(lanes, costs::pixels::most_points);
  const auto phases = s.is_reduction() ? phases_of(d, s, dims->point, dims->channels) : std::nullopt;
  if (s.is_reduction() && together(d, s, *dims, phases ? phases->buffer : 0)) {
    t.phases = phases;
    t.pixels_by = lanes / std::gcd(lanes, dims->channels);  // whole vectors
    while (2 * t.width() <= vectors_of_sums * lanes) t.pixels_by *= 2;
  } else if (apart(d, s, *dims)) {
    t.apart = true;
    if (s.is_reduction() && 4 * dims->channels <= d.s.target().vector_registers()) t.pixels_by = 2 * lanes;
    t.pixels_by = points_shuffled(d, *dims, t.pixels_by);
  } else {
    return {};
  }
  if (d.sizes().extent(s, dims->point) < static_cast<double>(t.pixels_by)) return {};
  return t;
}

void values_apart(Draft& d, Id id, const Tile& t) {
  const Stage stage = d.handle(id);
  const auto dims = spatial_of(d.stage(id));
  d.attempt(id,
            count(static_cast<double>(t.columns_by)) + " values apart, " + count(static_cast<double>(t.pixels_by)) +
                " points in a vector",
            [&] {
              lies_last(stage, static_cast<int>(dims.size()), t.pixels, d.where);
              const Split points = stage.split(loop_over(d, stage, dims[static_cast<std::size_t>(t.pixels)].id), t.pixels_by,
                                               Tail::guard, d.where);
              const Loop value = loop_over(d, stage, dims.back().id);
              std::vector<Loop> order;
              for (const Loop& l : stage.nest(d.where))
                if (!(l == value) && !(l == points.inner)) order.push_back(l);
              order.push_back(value), order.push_back(points.inner);
              reorder(d, stage, order);
              stage.unroll(value, d.where);
              stage.vectorize(points.inner, d.where);
            });
  on_stack(d, id);
}

// For a filter at places that are not multiples of a number, steady(n * 160 / 147 + k, c): vectors hold terms of one value.
Id terms_beside_few(const Draft& d, const ir::Stage& s) {
  if (!s.is_reduction() || s.scatters() || s.is_recurrence() || s.values.size() != 1 || !regroups(d, s)) return 0;
  const std::int64_t lanes = std::max(1, d.s.target().lanes(d.program().buffer(s.buffers.front()).type));
  const auto few = dims_of(d, s, lanes);
  if (!few || tile_of_pixels(d, s)) return 0;
  const auto all = readings_of(d.program(), s);
  for (const ir::IterVar& k : reduce_of(s)) {
    const Dims terms{k.id, few->channel, few->channels};
    const bool even = std::all_of(all.begin(), all.end(), [&](const Reading& r) {
      const Along a = along(d, r, terms);
      return a.points == 0 || (!a.anywhere && a.points == 1 && a.even && a.step != 0 && std::abs(a.step) <= widest_stride);
    });
    if (even && !d.sizes().from_data(s, k.id) && d.sizes().extent(s, k.id) >= static_cast<double>(lanes / 2)) return k.id;
  }
  return 0;
}

}  // namespace ashlar::schedules
