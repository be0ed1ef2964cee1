#pragma once
// The pipeline of pipeline.h as plain loops, stage after stage over the whole picture: what the kernels are compared with (T is
// double) and timed beside (T is float). Each stage is a loop nest that compilers vectorize; storage is allocated once, in the
// constructor.
//
//   photo::Plain<float> plain(size);
//   plain.raw(coefficients, mosaic, out);     // out: planes of red, green, blue
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/photo/coefficients.h"

namespace photo {

template <class T>
class Plain {
 public:
  explicit Plain(Size size) : size_(size), wide_(size.width + 2 * edge) {
    const auto n = static_cast<std::size_t>((size.height + 2 * edge) * wide_);
    linear_.resize(n);
    for (auto* planes : {&rgb_, &encoded_}) planes->assign(3, std::vector<T>(n));
    opponent_.assign(3, std::vector<T>(n)), sums_.assign(6, std::vector<T>(n)), fit_.assign(6, std::vector<T>(n));
    luma_.resize(n), blurred_.resize(n);
  }

  void raw(const Coefficients& k, const std::uint16_t* in, std::uint16_t* out) {
    linearize(k, in);
    demosaic(k);
    finish(k, out);
  }

  void picture(const Coefficients& k, const std::uint16_t* in, std::uint16_t* out) {
    decode(k, in);
    finish(k, out);
  }

 private:
  // Stages also compute the pixels beyond the border that later stages read.
  static constexpr std::int64_t edge = taps + 2 * window + 2;

  T* at(std::vector<T>& plane, std::int64_t y) { return plane.data() + (y + edge) * wide_ + edge; }

  static std::int64_t reflected(std::int64_t i, std::int64_t n) {
    if (n == 1) return 0;
    const std::int64_t period = 2 * (n - 1), k = ((i % period) + period) % period;
    return std::min(k, period - k);
  }

  void linearize(const Coefficients& k, const std::uint16_t* in) {
    const std::int64_t H = size_.height, W = size_.width;
    for (std::int64_t y = -edge; y < H + edge; ++y) {
      const std::uint16_t* from = in + reflected(y, H) * W;
      T* __restrict to = at(linear_, y);
      const std::size_t row = 2 * static_cast<std::size_t>(y & 1);
      const auto pixel = [&](std::int64_t x, std::int64_t read) {
        const std::size_t p = row + static_cast<std::size_t>(x & 1);
        to[x] = std::clamp((T(from[read]) - T(k.black[p])) * T(k.gain[p]), T(0), T(1));
      };
      for (std::int64_t x = -edge; x < 0; ++x) pixel(x, reflected(x, W));
      const T black0 = T(k.black[row]), black1 = T(k.black[row + 1]), gain0 = T(k.gain[row]), gain1 = T(k.gain[row + 1]);
      for (std::int64_t x = 0; x < W; ++x)
        to[x] = std::clamp((T(from[x]) - (x & 1 ? black1 : black0)) * (x & 1 ? gain1 : gain0), T(0), T(1));
      for (std::int64_t x = W; x < W + edge; ++x) pixel(x, reflected(x, W));
    }
  }

  void demosaic(const Coefficients& k) {
    constexpr std::int64_t reach = edge - 2;
    for (std::int64_t y = -reach; y < size_.height + reach; ++y) {
      const T* __restrict c = at(linear_, y);
      T* __restrict red = at(rgb_[0], y), * __restrict green = at(rgb_[1], y), * __restrict blue = at(rgb_[2], y);
      const bool red_row = ((y + k.red_y) & 1) == 0;
      const std::int64_t P = wide_;
      for (std::int64_t x = -reach; x < size_.width + reach; ++x) {
        const T beside = c[x - 1] + c[x + 1], above = c[x - P] + c[x + P];
        const T far_beside = c[x - 2] + c[x + 2], far_above = c[x - 2 * P] + c[x + 2 * P];
        const T corners = c[x - P - 1] + c[x - P + 1] + c[x + P - 1] + c[x + P + 1];
        const T cross = (4 * c[x] + 2 * (beside + above) - (far_beside + far_above)) * T(0.125);
        const T along = (5 * c[x] + 4 * beside - far_beside + far_above * T(0.5) - corners) * T(0.125);
        const T across = (5 * c[x] + 4 * above - far_above + far_beside * T(0.5) - corners) * T(0.125);
        const T diagonal = (6 * c[x] + 2 * corners - (far_beside + far_above) * T(1.5)) * T(0.125);
        const bool red_column = ((x + k.red_x) & 1) == 0;
        const T same = red_column == red_row ? c[x] : along, other = red_column == red_row ? diagonal : across;
        red[x] = red_row ? same : other;
        green[x] = red_row == red_column ? cross : c[x];
        blue[x] = red_row ? other : same;
      }
    }
  }

  void decode(const Coefficients& k, const std::uint16_t* in) {
    const std::int64_t H = size_.height, W = size_.width;
    for (int c = 0; c < 3; ++c)
      for (std::int64_t y = -edge; y < H + edge; ++y) {
        const std::uint16_t* from = in + (c * H + reflected(y, H)) * W;
        T* __restrict to = at(rgb_[static_cast<std::size_t>(c)], y);
        for (std::int64_t x = 0; x < W; ++x) {
          const T v = T(from[x]) / T(k.range);
          to[x] = v <= T(0.04045) ? v / T(12.92) : std::pow((v + T(0.055)) / T(1.055), T(2.4));
        }
        for (std::int64_t x = -edge; x < 0; ++x) to[x] = to[reflected(x, W)];
        for (std::int64_t x = W; x < W + edge; ++x) to[x] = to[reflected(x, W)];
      }
  }

  void finish(const Coefficients& k, std::uint16_t* out) {
    if (k.denoise) {
      to_opponent();
      for (int j = 0; j < 3; ++j) sum_down(j);
      for (int j = 0; j < 3; ++j) sum_down_of_products(j);
      fit(k);
      for (std::size_t j = 0; j < 6; ++j) sum_rows(fit_[j], sums_[j]);
      smooth();
    }
    encode(k);
    sharpen(k, out);
  }

  void to_opponent() {
    constexpr std::int64_t reach = edge - 2;
    for (std::int64_t y = -reach; y < size_.height + reach; ++y) {
      const T* __restrict red = at(rgb_[0], y), * __restrict green = at(rgb_[1], y), * __restrict blue = at(rgb_[2], y);
      T* __restrict l = at(opponent_[0], y), * __restrict u = at(opponent_[1], y), * __restrict v = at(opponent_[2], y);
      for (std::int64_t x = -reach; x < size_.width + reach; ++x) {
        const T r = std::sqrt(std::max(red[x], T(0))), g = std::sqrt(std::max(green[x], T(0))),
                b = std::sqrt(std::max(blue[x], T(0)));
        l[x] = (r + 2 * g + b) * T(0.25), u[x] = r - g, v[x] = b - g;
      }
    }
  }

  // Sums over the rows of a window. Rows and columns that no later stage reads hold what they hold.
  void sum_rows(std::vector<T>& from, std::vector<T>& to) {
    constexpr std::int64_t reach = taps + window;
    for (std::int64_t y = -taps - window; y < size_.height + taps + window; ++y) {
      T* __restrict sum = at(to, y);
      const T* __restrict c = at(from, y);
      const std::int64_t P = wide_;
      for (std::int64_t x = -reach - window; x < size_.width + reach + window; ++x) {
        T total = 0;
        for (int d = -window; d <= window; ++d) total += c[x + d * P];
        sum[x] = total;
      }
    }
  }

  void sum_down(int j) { sum_rows(opponent_[static_cast<std::size_t>(j)], sums_[static_cast<std::size_t>(j)]); }

  void sum_down_of_products(int j) {
    constexpr std::int64_t reach = taps + 2 * window;
    for (std::int64_t y = -taps - window; y < size_.height + taps + window; ++y) {
      T* __restrict sum = at(sums_[static_cast<std::size_t>(3 + j)], y);
      const T* __restrict l = at(opponent_[0], y), *c = at(opponent_[static_cast<std::size_t>(j)], y);
      const std::int64_t P = wide_;
      for (std::int64_t x = -reach; x < size_.width + reach; ++x) {
        T total = 0;
        for (int d = -window; d <= window; ++d) total += l[x + d * P] * c[x + d * P];
        sum[x] = total;
      }
    }
  }

  void fit(const Coefficients& k) {
    constexpr std::int64_t reach = taps + window;
    constexpr T share = T(1) / ((2 * window + 1) * (2 * window + 1));
    for (std::int64_t y = -reach; y < size_.height + reach; ++y) {
      const T* sums[6];
      T* to[6];
      for (std::size_t j = 0; j < 6; ++j) sums[j] = at(sums_[j], y), to[j] = at(fit_[j], y);
      T* __restrict a0 = to[0], * __restrict b0 = to[1], * __restrict a1 = to[2], * __restrict b1 = to[3], * __restrict a2 = to[4], * __restrict b2 = to[5];
      for (std::int64_t x = -reach; x < size_.width + reach; ++x) {
        T mean[6];
        for (int j = 0; j < 6; ++j) {
          T total = 0;
          for (int d = -window; d <= window; ++d) total += sums[j][x + d];
          mean[j] = total * share;
        }
        const T variance = std::max(mean[3] - mean[0] * mean[0], T(0)), a = variance / (variance + T(k.luma_noise));
        const T per = 1 / (variance + T(k.chroma_noise));
        const T u = (mean[4] - mean[0] * mean[1]) * per, v = (mean[5] - mean[0] * mean[2]) * per;
        a0[x] = a, b0[x] = mean[0] - a * mean[0];
        a1[x] = u, b1[x] = mean[1] - u * mean[0];
        a2[x] = v, b2[x] = mean[2] - v * mean[0];
      }
    }
  }

  void smooth() {
    constexpr T share = T(1) / ((2 * window + 1) * (2 * window + 1));
    for (std::int64_t y = -taps; y < size_.height + taps; ++y) {
      const T* sums[6];
      for (std::size_t j = 0; j < 6; ++j) sums[j] = at(sums_[j], y);
      const T* __restrict light = at(opponent_[0], y);
      T* __restrict red = at(rgb_[0], y), * __restrict green = at(rgb_[1], y), * __restrict blue = at(rgb_[2], y);
      for (std::int64_t x = -taps; x < size_.width + taps; ++x) {
        T mean[6];
        for (int j = 0; j < 6; ++j) {
          T total = 0;
          for (int d = -window; d <= window; ++d) total += sums[j][x + d];
          mean[j] = total * share;
        }
        const T l = mean[0] * light[x] + mean[1], u = mean[2] * light[x] + mean[3], v = mean[4] * light[x] + mean[5];
        const T g = std::max(l - (u + v) * T(0.25), T(0)), r = std::max(g + u, T(0)), b = std::max(g + v, T(0));
        red[x] = r * r, green[x] = g * g, blue[x] = b * b;
      }
    }
  }

  void encode(const Coefficients& k) {
    for (std::int64_t y = -taps; y < size_.height + taps; ++y) {
      const T* __restrict red = at(rgb_[0], y), * __restrict green = at(rgb_[1], y), * __restrict blue = at(rgb_[2], y);
      for (std::size_t c = 0; c < 3; ++c) {
        T* __restrict to = at(encoded_[c], y);
        const T m0 = T(k.matrix[3 * c]), m1 = T(k.matrix[3 * c + 1]), m2 = T(k.matrix[3 * c + 2]);
        const T t0 = T(k.tone[0]), t1 = T(k.tone[1]), t2 = T(k.tone[2]), t3 = T(k.tone[3]), t4 = T(k.tone[4]);
        const T e0 = T(k.encode[0]), e1 = T(k.encode[1]), e2 = T(k.encode[2]), e3 = T(k.encode[3]);
        for (std::int64_t x = -taps; x < size_.width + taps; ++x) {
          const T v = std::max(m0 * red[x] + m1 * green[x] + m2 * blue[x], T(0));
          const T toned = std::clamp(v * (t0 * v + t1) / (v * (t2 * v + t3) + t4), T(0), T(1));
          const T curved = (1 + e2) * std::pow(toned, e3) - e2;
          to[x] = toned <= e0 ? toned * e1 : curved;
        }
      }
      T* __restrict l = at(luma_, y);
      const T* __restrict r = at(encoded_[0], y), * __restrict g = at(encoded_[1], y), * __restrict b = at(encoded_[2], y);
      for (std::int64_t x = -taps; x < size_.width + taps; ++x)
        l[x] = T(luma[0]) * r[x] + T(luma[1]) * g[x] + T(luma[2]) * b[x];
    }
  }

  void sharpen(const Coefficients& k, std::uint16_t* out) {
    const std::int64_t H = size_.height, W = size_.width, P = wide_;
    T w[taps + 1];
    for (int d = 0; d <= taps; ++d) w[d] = T(k.blur[d]);
    for (std::int64_t y = 0; y < H; ++y) {
      const T* __restrict l = at(luma_, y);
      T* __restrict b = at(blurred_, y);
      for (std::int64_t x = -taps; x < W + taps; ++x) {
        T total = l[x] * w[0];
        for (int d = 1; d <= taps; ++d) total += (l[x - d * P] + l[x + d * P]) * w[d];
        b[x] = total;
      }
    }
    const T amount = T(k.sharpen), white = T(k.white);
    for (std::int64_t y = 0; y < H; ++y) {
      const T* __restrict l = at(luma_, y), * __restrict b = at(blurred_, y);
      T* __restrict detail = at(linear_, y);  // the mosaic is not read again
      for (std::int64_t x = 0; x < W; ++x) {
        T total = b[x] * w[0];
        for (int d = 1; d <= taps; ++d) total += (b[x - d] + b[x + d]) * w[d];
        detail[x] = (l[x] - total) * amount;
      }
      for (std::size_t c = 0; c < 3; ++c) {
        const T* __restrict from = at(encoded_[c], y);
        std::uint16_t* __restrict to = out + (static_cast<std::int64_t>(c) * H + y) * W;
        for (std::int64_t x = 0; x < W; ++x)
          to[x] = static_cast<std::uint16_t>(
              static_cast<std::int32_t>(std::clamp(from[x] + detail[x], T(0), T(1)) * white + T(0.5)));
      }
    }
  }

  Size size_;
  std::int64_t wide_;  // of a row in memory
  std::vector<T> linear_, luma_, blurred_;
  std::vector<std::vector<T>> rgb_, encoded_, opponent_, sums_, fit_;
};

}  // namespace photo
