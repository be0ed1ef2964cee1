#pragma once
// A convolution of any number of dimensions by loops over every tap: what the operators are compared with.
#include "tests/ops/check.h"

namespace ops_test {

struct Loops {
  std::vector<int> stride;
  std::vector<ops::Pad> padding;
  std::vector<int> dilation;
  int groups;
};
template <std::size_t N>
std::vector<ops::Pad> pads(const std::array<ops::Pad, N>& p) {
  return {p.begin(), p.end()};
}

// x: [N, C, image...], w: [O, C / groups, window...], bias: [O]; NCHW
inline Nd convolution(const Nd& x, const Nd& w, const Nd& bias, const Loops& l) {
  const std::size_t n = x.shape.size() - 2;
  Dims shape{x.n(0), w.n(0)}, taps{w.n(1)};
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t span = l.dilation[d] * (w.shape[d + 2] - 1) + 1;
    const std::int64_t room = x.shape[d + 2] + l.padding[d].before + l.padding[d].after - span;
    shape.push_back(room < 0 ? 0 : room / l.stride[d] + 1);
    taps.push_back(w.shape[d + 2]);
  }
  Nd y(shape);
  each(shape, [&](const Dims& i) {
    double sum = bias[i[1]];
    each(taps, [&](const Dims& k) {
      Dims from{i[0], i[1] / (w.n(0) / l.groups) * w.n(1) + k[0]}, tap{i[1], k[0]};
      bool inside = true;
      for (std::size_t d = 0; d < n; ++d) {
        from.push_back(i[d + 2] * l.stride[d] + k[d + 1] * l.dilation[d] - l.padding[d].before);
        tap.push_back(k[d + 1]);
        inside = inside && from.back() >= 0 && from.back() < x.shape[d + 2];
      }
      if (inside) sum += x.at(from) * w.at(tap);
    });
    y.at(i) = sum;
  });
  return y;
}

// Dimension d of the result is dimension order[d] of t.
inline Nd turned(const Nd& t, const std::vector<int>& order) {
  Dims shape;
  for (const int d : order) shape.push_back(t.n(d));
  Nd r(shape);
  each(shape, [&](const Dims& i) {
    Dims at(i.size());
    for (std::size_t d = 0; d < order.size(); ++d) at[static_cast<std::size_t>(order[d])] = i[d];
    r.at(i) = t.at(at);
  });
  return r;
}

}  // namespace ops_test
