#pragma once
// The libraries that the matrix product is compared with: C[M, N] = A[M, K] B[K, N], f32, dense rows. Each is a unit of its
// own, so that no two of their headers meet.
#include <cstdint>

namespace bench {

using MatmulPeer = void (*)(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);

void openblas_threads(int);
void openblas_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* openblas_about();  // its version and the core it chose

void onednn_threads(int);
void onednn_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* onednn_about();

void eigen_threads(int);
void eigen_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* eigen_about();

}  // namespace bench
