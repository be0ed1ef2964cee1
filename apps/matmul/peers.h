#pragma once
// What the application compares itself with: C[M, N] = relu(A[M, K] B[K, N] + bias[N]), f32, dense rows. Each peer is a unit of
// its own, compiled for this machine; threads as set.
#include <cstdint>

namespace peers {

struct Problem {
  const float *A, *B, *bias;
  float* C;
  std::int64_t M, N, K;
};

void eigen(const Problem&, int threads);
#ifdef APPS_OPENBLAS
void openblas(const Problem&, int threads);
#endif

}  // namespace peers
