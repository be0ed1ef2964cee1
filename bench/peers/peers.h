#pragma once
// The libraries that the matrix product is compared with, beside oneDNN (bench/peers/onednn_library.h): C[M, N] = A[M, K] B[K,
// N], f32, dense rows. Each is a unit of its own, so that no two of their headers meet.
#include <cstdint>

namespace bench {

void openblas_threads(int);
void openblas_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* openblas_about();  // its version and the core it chose

void eigen_attention(const float* q, const float* k, const float* v, float* y, std::int64_t heads, std::int64_t queries,
                     std::int64_t length, std::int64_t D);

void eigen_threads(int);
void eigen_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* eigen_about();

}  // namespace bench
