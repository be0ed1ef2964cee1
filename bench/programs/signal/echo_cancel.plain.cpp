#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t lines = a.size(0), steps = a.size(1), length = steps + 31;
  const float* __restrict far = a.in<float>(0), * __restrict mic = a.in<float>(1);
  float* __restrict residue = a.out<float>(0), * __restrict last = a.out<float>(1);
  for (std::int64_t c = 0; c < lines; ++c) {
    float w[32] = {};
    for (std::int64_t t = 0; t < steps; ++t) {
      const float* __restrict x = far + c * length + t;
      float guess = 0;
      for (int k = 0; k < 32; ++k) guess += w[k] * x[k];
      const float error = mic[c * steps + t] - guess, step = 0.02f * error;
      residue[c * steps + t] = error;
      for (int k = 0; k < 32; ++k) w[k] += step * x[k];
    }
    for (int k = 0; k < 32; ++k) last[c * 32 + k] = w[k];
  }
}
