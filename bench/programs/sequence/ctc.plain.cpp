#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
constexpr int classes = 29;
constexpr float never = -1e30f;
}  // namespace

PLAIN(a) {
  const std::int64_t batch = a.size(0), T = a.size(1), L = a.size(2);
  const float* __restrict logits = a.in<float>(0);
  const std::int32_t* __restrict labels = a.in<std::int32_t>(1), * __restrict frames = a.in<std::int32_t>(2), * __restrict count = a.in<std::int32_t>(3);
  float* __restrict loss = a.out<float>(0);
  static std::vector<float> space;
  static std::vector<std::int32_t> letters;
  space.resize(static_cast<std::size_t>(2 * (2 * L + 3)));
  letters.resize(static_cast<std::size_t>(2 * L + 3));
  std::int32_t* __restrict letter = letters.data() + 2;  // two cells before each row stand for what is not there
  letter[-1] = letter[-2] = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t states = 2 * count[b] + 1;
    for (std::int64_t s = 0; s < states; ++s) letter[s] = s % 2 == 1 ? labels[b * L + s / 2] : 0;
    float *now = space.data() + 2, *before = now + 2 * L + 3;
    for (int e = 1; e <= 2; ++e) now[-e] = before[-e] = never;
    for (std::int64_t t = 0; t < frames[b]; ++t) {
      const float* __restrict row = logits + (b * T + t) * classes;
      float top = row[0], sum = 0;
      for (int c = 1; c < classes; ++c) top = std::max(top, row[c]);
      for (int c = 0; c < classes; ++c) sum += std::exp(row[c] - top);
      const float norm = top + std::log(sum);
      std::swap(now, before);
      if (t == 0) {
        for (std::int64_t s = 0; s < states; ++s) now[s] = s < 2 ? row[letter[s]] - norm : never;
        continue;
      }
      for (std::int64_t s = 0; s < states; ++s) {
        const float stay = before[s], step = before[s - 1];
        const float skip = s % 2 == 1 && letter[s] != letter[s - 2] ? before[s - 2] : never;
        const float most = std::max(std::max(stay, step), skip);
        now[s] =
            most + std::log(std::exp(stay - most) + std::exp(step - most) + std::exp(skip - most)) + (row[letter[s]] - norm);
      }
    }
    const float last = now[states - 1], other = now[states - 2], most = std::max(last, other);
    loss[b] = -(most + std::log(std::exp(last - most) + std::exp(other - most)));
  }
}
