#include "apps/unsharp/plain.h"

#include <algorithm>

#include "apps/unsharp/filter.h"

namespace unsharp {

Plain::Plain(int channels, std::int64_t height, std::int64_t width)
    : channels_(channels), height_(height), width_(width), wide_(width + 2 * radius), weight_(gaussian()) {
  const auto pixels = static_cast<std::size_t>(height * width);
  gray_.resize(static_cast<std::size_t>((height + 2 * radius) * wide_));
  blur_y_.resize(static_cast<std::size_t>(height * wide_));
  blur_x_.resize(pixels), sharpen_.resize(pixels), ratio_.resize(pixels);
}

void Plain::run(const float* __restrict in, float* __restrict out) {
  const std::int64_t H = height_, W = width_, P = wide_;
  float* __restrict gray = gray_.data() + radius * P + radius;  // (0, 0) of the image
  float* __restrict blur_y = blur_y_.data() + radius;
  float* __restrict blur_x = blur_x_.data();
  float* __restrict sharpen = sharpen_.data();
  float* __restrict ratio = ratio_.data();
  const float w0 = weight_[0], w1 = weight_[1], w2 = weight_[2], w3 = weight_[3];

  for (std::int64_t y = 0; y < H; ++y) {
    const float* r = in + y * W;
    if (channels_ == 3) {
      const float *g = r + H * W, *b = g + H * W;
      for (std::int64_t x = 0; x < W; ++x) gray[y * P + x] = luma[0] * r[x] + luma[1] * g[x] + luma[2] * b[x];
    } else {
      for (std::int64_t x = 0; x < W; ++x) gray[y * P + x] = r[x];
    }
    for (std::int64_t x = 1; x <= radius; ++x) gray[y * P - x] = gray[y * P], gray[y * P + W - 1 + x] = gray[y * P + W - 1];
  }
  for (std::int64_t y = 1; y <= radius; ++y) {
    std::copy_n(gray - radius, P, gray - y * P - radius);
    std::copy_n(gray + (H - 1) * P - radius, P, gray + (H - 1 + y) * P - radius);
  }
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = -radius; x < W + radius; ++x) {
      const float* g = gray + y * P + x;
      blur_y[y * P + x] = w0 * g[0] + w1 * (g[-P] + g[P]) + w2 * (g[-2 * P] + g[2 * P]) + w3 * (g[-3 * P] + g[3 * P]);
    }
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x) {
      const float* b = blur_y + y * P + x;
      blur_x[y * W + x] = w0 * b[0] + w1 * (b[-1] + b[1]) + w2 * (b[-2] + b[2]) + w3 * (b[-3] + b[3]);
    }
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x) sharpen[y * W + x] = 2 * gray[y * P + x] - blur_x[y * W + x];
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x) ratio[y * W + x] = sharpen[y * W + x] / std::max(gray[y * P + x], darkest);
  for (int c = 0; c < channels_; ++c)
    for (std::int64_t y = 0; y < H; ++y)
      for (std::int64_t x = 0; x < W; ++x) out[(c * H + y) * W + x] = ratio[y * W + x] * in[(c * H + y) * W + x];
}

}  // namespace unsharp
