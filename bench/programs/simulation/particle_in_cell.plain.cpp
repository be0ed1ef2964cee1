#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t N = a.size(0), H = a.size(1), W = a.size(2);
  const float* __restrict x = a.in<float>(0), * __restrict y = a.in<float>(1), * __restrict u = a.in<float>(2), * __restrict v = a.in<float>(3);
  float* __restrict density = a.out<float>(0), * __restrict nx = a.out<float>(1), * __restrict ny = a.out<float>(2), * __restrict nu = a.out<float>(3), * __restrict nv = a.out<float>(4);
  static std::vector<float> space;
  space.resize(static_cast<std::size_t>(3 * H * W));
  float* __restrict smooth = space.data(), * __restrict across = smooth + H * W, * __restrict down = across + H * W;
  const float height = static_cast<float>(H), width = static_cast<float>(W);
  const auto cell = [](float at, std::int64_t extent) {
    return std::clamp<std::int64_t>(static_cast<std::int32_t>(at), 0, extent - 1);
  };
  const auto next = [](std::int64_t i, std::int64_t extent) { return i + 1 == extent ? 0 : i + 1; };
  const auto last = [](std::int64_t i, std::int64_t extent) { return i == 0 ? extent - 1 : i - 1; };
  std::fill(density, density + H * W, 0.0f);
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t r = cell(y[n], H), c = cell(x[n], W), below = next(r, H), right = next(c, W);
    const float fy = y[n] - static_cast<float>(r), fx = x[n] - static_cast<float>(c);
    density[r * W + c] += (1 - fy) * (1 - fx);
    density[r * W + right] += (1 - fy) * fx;
    density[below * W + c] += fy * (1 - fx);
    density[below * W + right] += fy * fx;
  }
  for (std::int64_t r = 0; r < H; ++r) {
    const float* __restrict now = density + r * W, * __restrict above = density + last(r, H) * W, * __restrict below = density + next(r, H) * W;
    const auto point = [&](std::int64_t c, std::int64_t left, std::int64_t right) {
      smooth[r * W + c] = 0.5f * now[c] + 0.125f * (now[left] + now[right] + above[c] + below[c]);
    };
    point(0, W - 1, next(0, W));
    for (std::int64_t c = 1; c < W - 1; ++c) point(c, c - 1, c + 1);
    point(W - 1, last(W - 1, W), 0);
  }
  for (std::int64_t r = 0; r < H; ++r) {
    const float* __restrict now = smooth + r * W, * __restrict above = smooth + last(r, H) * W, * __restrict below = smooth + next(r, H) * W;
    const auto point = [&](std::int64_t c, std::int64_t left, std::int64_t right) {
      across[r * W + c] = 0.5f * (now[left] - now[right]);
      down[r * W + c] = 0.5f * (above[c] - below[c]);
    };
    point(0, W - 1, next(0, W));
    for (std::int64_t c = 1; c < W - 1; ++c) point(c, c - 1, c + 1);
    point(W - 1, last(W - 1, W), 0);
  }
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t r = cell(y[n], H), c = cell(x[n], W), below = next(r, H), right = next(c, W);
    const float fy = y[n] - static_cast<float>(r), fx = x[n] - static_cast<float>(c);
    const auto between = [&](const float* field) {
      return (1 - fy) * ((1 - fx) * field[r * W + c] + fx * field[r * W + right]) +
             fy * ((1 - fx) * field[below * W + c] + fx * field[below * W + right]);
    };
    const float pu = u[n] + 0.1f * between(across), pv = v[n] + 0.1f * between(down);
    const float px = x[n] + 0.1f * pu, py = y[n] + 0.1f * pv;
    nx[n] = px - width * std::floor(px / width);
    ny[n] = py - height * std::floor(py / height);
    nu[n] = pu, nv[n] = pv;
  }
}
