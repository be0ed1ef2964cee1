#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t paths = a.size(0), steps = a.size(1);
  constexpr int levels = 17, strikes = 9;
  const std::uint64_t* __restrict seed = a.in<std::uint64_t>(0);
  const double* __restrict volatility = a.in<double>(1), * __restrict strike = a.in<double>(2);
  double* __restrict price = a.out<double>(0);
  for (int k = 0; k < strikes; ++k) price[k] = 0;
  const double dt = 1.0 / static_cast<double>(steps), root = std::sqrt(dt);
  for (std::int64_t p = 0; p < paths; ++p) {
    std::uint64_t state = seed[p];
    double stock = 100, sum = 0;
    bool alive = true;
    for (std::int64_t t = 0; t < steps && alive; ++t) {
      state += 0x9E3779B97F4A7C15u;
      std::uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      z ^= z >> 31;
      const double u = (static_cast<double>(z >> 32) + 1) * 0x1p-32, v = static_cast<double>(z & 0xffffffffu) * 0x1p-32;
      const double normal = std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
      const double s = volatility[t * levels + std::clamp(static_cast<std::int32_t>(stock * 0.1), 0, levels - 1)];
      stock *= std::exp((0.03 - 0.5 * s * s) * dt + s * root * normal);
      sum += stock;
      alive = stock < 130;
    }
    const double mean = sum * dt;
    if (alive)
      for (int k = 0; k < strikes; ++k) price[k] += std::max(mean - strike[k], 0.0);
  }
  for (int k = 0; k < strikes; ++k) price[k] = price[k] / static_cast<double>(paths) * 0.9704455335485082;
}
