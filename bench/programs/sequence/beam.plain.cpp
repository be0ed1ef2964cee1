#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
constexpr int beams = 4, end_token = 2;
constexpr float never = -1e30f;
}  // namespace

PLAIN(a) {
  const std::int64_t batch = a.size(0), words = a.size(1), length = a.size(2);
  const float* __restrict logits = a.in<float>(0), * __restrict score = a.in<float>(1);
  const std::uint8_t* __restrict done = a.in<std::uint8_t>(2);
  const std::int32_t* __restrict history = a.in<std::int32_t>(3);
  float* __restrict best = a.out<float>(0);
  std::int32_t* __restrict extended = a.out<std::int32_t>(1);
  for (std::int64_t b = 0; b < batch; ++b) {
    float value[beams];  // the best so far, in descending order
    std::int64_t place[beams];
    for (int j = 0; j < beams; ++j) value[j] = 2 * never, place[j] = 0;
    const auto offer = [&](float v, std::int64_t at) {
      if (v <= value[beams - 1]) return;
      int j = beams - 1;
      for (; j > 0 && value[j - 1] < v; --j) value[j] = value[j - 1], place[j] = place[j - 1];
      value[j] = v, place[j] = at;
    };
    for (int k = 0; k < beams; ++k) {
      const float from = score[b * beams + k];
      if (done[b * beams + k] != 0) {
        for (std::int64_t w = 0; w < words; ++w) offer(w == end_token ? from : never, k * words + w);
        continue;
      }
      const float* __restrict row = logits + (b * beams + k) * words;
      float top = row[0], sum = 0;
      for (std::int64_t w = 1; w < words; ++w) top = std::max(top, row[w]);
      for (std::int64_t w = 0; w < words; ++w) sum += std::exp(row[w] - top);
      const float norm = top + std::log(sum);
      for (std::int64_t w = 0; w < words; ++w) offer(from + (row[w] - norm), k * words + w);
    }
    for (int j = 0; j < beams; ++j) {
      const std::int64_t origin = place[j] / words, token = place[j] % words;
      best[b * beams + j] = value[j];
      std::int32_t* __restrict to = extended + (b * beams + j) * (length + 1);
      std::copy_n(history + (b * beams + origin) * length, length, to);
      to[length] = static_cast<std::int32_t>(token);
    }
  }
}
