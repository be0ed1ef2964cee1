#pragma once
// The same network in plain loops: what it computes, without a thought of how. Integers up to the logits, exactly.
#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/keywords/network.h"

namespace ds_cnn {

struct Result {
  std::vector<std::int8_t> logits;
  std::vector<double> probability;
};

namespace detail {

// acc * multiplier / 2^31, then / 2^shift, each rounded to nearest with halves up, onto a zero point, into i8.
inline std::int8_t requantize(std::int64_t acc, const Layer& l, int c, std::int32_t to) {
  const std::size_t k = static_cast<std::size_t>(c);
  const std::int64_t scaled = (acc * l.multiplier[k] + (std::int64_t{1} << 30)) >> 31, s = l.shift[k];
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(((scaled + (std::int64_t{1} << s >> 1)) >> s) + to, -128, 127));
}

}  // namespace detail

inline Result reference(const std::int8_t* x) {  // i8[49, 10]
  const Network& n = network();
  const auto at = [](int h, int w, int c) { return static_cast<std::size_t>((h * wide + w) * channels + c); };
  const auto weight = [](const Layer& l, int k) { return std::int64_t{l.weights[static_cast<std::size_t>(k)]}; };
  std::vector<std::int8_t> now(at(high, 0, 0)), next = now;
  for (int h = 0; h < high; ++h)
    for (int w = 0; w < wide; ++w)
      for (int c = 0; c < channels; ++c) {
        std::int64_t acc = n.conv.bias[static_cast<std::size_t>(c)];
        for (int r = 0; r < kernel_h; ++r)
          for (int q = 0; q < kernel_w; ++q) {
            const int y = stride * h + r - 4, z = stride * w + q - 1;
            if (y >= 0 && y < frames && z >= 0 && z < coefficients)
              acc += (x[y * coefficients + z] - input_zero) * weight(n.conv, (c * kernel_h + r) * kernel_w + q);
          }
        now[at(h, w, c)] = detail::requantize(acc, n.conv, c, zero);
      }
  for (int b = 0; b < blocks; ++b) {
    for (int h = 0; h < high; ++h)
      for (int w = 0; w < wide; ++w)
        for (int c = 0; c < channels; ++c) {
          std::int64_t acc = n.depth[b].bias[static_cast<std::size_t>(c)];
          for (int r = 0; r < 3; ++r)
            for (int q = 0; q < 3; ++q)
              if (h + r >= 1 && h + r <= high && w + q >= 1 && w + q <= wide)
                acc += (now[at(h + r - 1, w + q - 1, c)] - zero) * weight(n.depth[b], (r * 3 + q) * channels + c);
          next[at(h, w, c)] = detail::requantize(acc, n.depth[b], c, zero);
        }
    for (int h = 0; h < high; ++h)
      for (int w = 0; w < wide; ++w)
        for (int o = 0; o < channels; ++o) {
          std::int64_t acc = n.point[b].bias[static_cast<std::size_t>(o)];
          for (int c = 0; c < channels; ++c) acc += (next[at(h, w, c)] - zero) * weight(n.point[b], o * channels + c);
          now[at(h, w, o)] = detail::requantize(acc, n.point[b], o, zero);
        }
  }
  std::vector<std::int8_t> mean;
  for (int c = 0; c < channels; ++c) {
    std::int64_t acc = 0;
    for (int h = 0; h < high; ++h)
      for (int w = 0; w < wide; ++w) acc += now[at(h, w, c)] - zero;
    mean.push_back(detail::requantize(acc, n.pool, 0, zero));
  }
  Result r;
  for (int o = 0; o < classes; ++o) {
    std::int64_t acc = n.dense.bias[static_cast<std::size_t>(o)];
    for (int c = 0; c < channels; ++c) acc += (mean[static_cast<std::size_t>(c)] - zero) * weight(n.dense, o * channels + c);
    r.logits.push_back(detail::requantize(acc, n.dense, o, 0));
  }
  double total = 0;
  for (const std::int8_t l : r.logits) total += std::exp(l * double{logit_scale});
  for (const std::int8_t l : r.logits) r.probability.push_back(std::exp(l * double{logit_scale}) / total);
  return r;
}

}  // namespace ds_cnn
