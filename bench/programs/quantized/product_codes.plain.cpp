#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t queries = a.size(0), items = a.size(1);
  const float* __restrict query = a.in<float>(0), * __restrict book = a.in<float>(1);
  const std::uint8_t* __restrict codes = a.in<std::uint8_t>(2);
  float* __restrict least = a.out<float>(0);
  std::int64_t* __restrict nearest = a.out<std::int64_t>(1);
  for (std::int64_t q = 0; q < queries; ++q) {
    float table[12][256];
    for (int m = 0; m < 12; ++m)
      for (int c = 0; c < 256; ++c) {
        float s = 0;
        for (int d = 0; d < 4; ++d) {
          const float apart = query[q * 48 + m * 4 + d] - book[(m * 256 + c) * 4 + d];
          s += apart * apart;
        }
        table[m][c] = s;
      }
    float best = 1e30f;
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < items; ++i) {
      float s = 0;
      for (int m = 0; m < 12; ++m) s += table[m][codes[i * 12 + m]];
      if (s < best) best = s, place = i;
    }
    least[q] = best, nearest[q] = place;
  }
}
