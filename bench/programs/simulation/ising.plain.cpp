#include <cstdint>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t steps = a.size(0), H = a.size(1), W = a.size(2);
  const std::int8_t* __restrict start = a.in<std::int8_t>(0);
  const std::uint32_t* __restrict chance = a.in<std::uint32_t>(1);
  std::int8_t* __restrict spin = a.out<std::int8_t>(0);
  std::int32_t* __restrict magnetization = a.out<std::int32_t>(1);
  std::int32_t total = 0;
  for (std::int64_t i = 0; i < H * W; ++i) {
    spin[i] = static_cast<std::int8_t>(2 * start[i] - 1);
    total += spin[i];
  }
  magnetization[0] = total;
  for (std::int64_t t = 1; t <= steps; ++t) {
    for (std::int64_t y = 0; y < H; ++y) {
      std::int8_t* row = spin + y * W;
      const std::int8_t* above = spin + (y + H - 1) % H * W;
      const std::int8_t* below = spin + (y + 1) % H * W;
      const auto visit = [&](std::int64_t x, std::int64_t left, std::int64_t right) {
        std::uint32_t h = static_cast<std::uint32_t>((t * H + y) * W + x) * 2654435761u;
        h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
        const int s = row[x], aligned = (s * (above[x] + below[x] + row[left] + row[right]) + 4) >> 1;
        const bool flip = h < chance[aligned];
        row[x] = static_cast<std::int8_t>(flip ? -s : s);
        total -= flip ? 2 * s : 0;
      };
      std::int64_t x = (y + t) & 1;
      if (x == 0) visit(0, W - 1, 1 % W), x = 2;
      for (; x < W - 1; x += 2) visit(x, x - 1, x + 1);
      if (x == W - 1) visit(x, W - 2, 0);
    }
    magnetization[t] = total;
  }
}
