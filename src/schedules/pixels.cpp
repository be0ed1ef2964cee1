// Points that have a few values each, neighbours in memory: the colours of pixels, the coordinates of places. Vectors hold
// those of several points, of the dimension before; so that the channels alone are no vector worth its name.
//
//   rgb[y, x, 3], vectors of 16 pixels:  element e of 48 is at (x + e / 3, e % 3)
#include <algorithm>
#include <numeric>

#include "schedules/draft.h"

namespace ashlar::schedules {

// Neighbours are what each channel reads of its own kind, and what all channels of a point read of one that lies along memory:
// blue[y, x / 2]. Lanes of a vector would be gathered where they read another channel, rgb[y, x, 0], or an element behind a
// border, which is decided for a run of points, not for points that stand side by side three times.
bool reads_neighbours(const ir::Stage& s, Id point, Id channel) {
  const auto decides = [&](const Expr& e) {  // where a point lies
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      found = found || (ir::uses_var(x, point) && (ir::is(x, ir::Op::min) || ir::is(x, ir::Op::max) ||
                                                   ir::is(x, ir::Op::select) || ir::is(x, ir::Op::mod)));
      return !found;
    });
    return found;
  };
  bool neighbours = true;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load)) return true;
      const auto at = ir::args_of(e);
      bool of_channel = false, of_point = false;
      for (std::size_t k = 0; k + 1 < at.size(); ++k) {
        neighbours = neighbours && !ir::uses_var(at[k], channel);
        of_point = of_point || ir::uses_var(at[k], point);
      }
      if (!at.empty()) of_channel = ir::uses_var(at.back(), channel);
      neighbours = neighbours && (of_channel ? ir::free_vars(at.back()).size() == 1 : !of_point);
      for (const Expr& index : at) neighbours = neighbours && !decides(index);
      return false;
    });
  return neighbours;
}

bool has_channels(const Draft& d, const ir::Stage& s, const std::vector<double>& window) {
  const auto dims = spatial_of(s);
  if (dims.size() < 2 || s.is_reduction() || d.s.target().is_gpu() || d.s.target().has("sve")) return false;
  const Sizes sizes = d.sizes();
  const auto channels = sizes.constant_extent(s, dims.back().id).value_or(0);
  const int lanes = lanes_of(d, s);
  return channels >= 2 && 2 * channels <= lanes && window.back() == 0 &&
         reads_neighbours(s, dims[dims.size() - 2].id, dims.back().id) &&
         sizes.extent(s, dims[dims.size() - 2].id) >= 2 * static_cast<double>(lanes / channels);
}

namespace {

// The same of the terms of a sum: x(y, i + k, c) and what all values of all points share, w(k).
bool sums_neighbours(const ir::Program& p, const ir::Stage& s, Id point, Id channel) {
  const auto all = readings_of(p, s);
  const auto terms = reduce_of(s);
  return std::all_of(all.begin(), all.end(), [&](const Reading& r) {
    std::size_t of_point = 0, of_channel = 0, of_terms = 0;
    for (const Index& x : r.at) {
      of_point += x.moves_with(point), of_channel += x.moves_with(channel);
      of_terms += std::any_of(terms.begin(), terms.end(), [&](const ir::IterVar& k) { return x.moves_with(k.id); });
    }
    if (of_channel == 0) return of_point == 0;
    if (of_channel > 1 || !r.at.back().plain(channel)) return false;
    if (of_point == 0) return of_terms == 0;
    const Index& x = r.at[r.at.size() - 2];
    const auto at = x.coefficients.find(point);
    return of_point == 1 && !x.bent && !x.from_data && at != x.coefficients.end() && at->second == 1;
  });
}

}  // namespace

std::int64_t pixels_of_tile(const Draft& d, const ir::Stage& s, int columns, std::int64_t lanes, std::int64_t vectors) {
  const auto dims = spatial_of(s);
  if (columns < 1 || columns + 1 != static_cast<int>(dims.size()) || d.s.target().is_gpu() || d.s.target().has("sve")) return 0;
  const Id channel = dims.back().id, point = dims[dims.size() - 2].id;
  const Sizes sizes = d.sizes();
  const std::int64_t channels = sizes.constant_extent(s, channel).value_or(0);
  if (channels < 2 || 2 * channels > lanes || bounds_terms(s, point) || bounds_terms(s, channel)) return 0;
  std::int64_t points = lanes / std::gcd(lanes, channels);  // whole vectors
  while (2 * points * channels <= vectors * lanes) points *= 2;
  return sizes.extent(s, point) >= static_cast<double>(points) && sums_neighbours(d.program(), s, point, channel) ? points : 0;
}

}  // namespace ashlar::schedules
