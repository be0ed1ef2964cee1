// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The matrix multiplications that the bench measures, C[M, N] = A[M, K] B[K, N]: cubes, odd sizes, few rows.
#include <cstdint>

namespace bench {

struct MatmulShape {
  std::int64_t M, N, K;
};
constexpr MatmulShape matmul_shapes[] = {{64, 64, 64},       {128, 128, 128},    {256, 256, 256},    {512, 512, 512},
                                         {1024, 1024, 1024}, {2048, 2048, 2048}, {1023, 1023, 1023}, {1000, 700, 900},
                                         {1, 4096, 4096},    {8, 4096, 4096}};

}  // namespace bench
