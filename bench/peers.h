#pragma once
// The libraries that the matrix product is compared with: C[M, N] = A[M, K] B[K, N], f32, dense rows. Each is a unit of its
// own, so that no two of their headers meet.
#include <cstdint>
#include <memory>

namespace bench {

using MatmulPeer = void (*)(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);

void openblas_threads(int);
void openblas_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* openblas_about();  // its version and the core it chose

void onednn_threads(int);
void onednn_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* onednn_about();

// Products and 3 x 3 convolutions (stride 1, a rim of zeros, channels last) of u8 by i8 in i32 and of bf16 in f32, as
// primitives made beforehand. Weights of a convolution are given as oihw and laid out once as the library wants them, which is
// not timed.
enum class Narrow { u8s8, bf16 };
class OnednnNarrow {
 public:
  static OnednnNarrow product(Narrow, const void* A, const void* B, void* C, std::int64_t M, std::int64_t N, std::int64_t K);
  static OnednnNarrow convolution(Narrow, const void* X, const void* weights, void* Y, std::int64_t size,
                                  std::int64_t channels);
  void run() const;
  const char* implementation() const;  // as the library names it

 private:
  struct Made;
  std::shared_ptr<Made> made_;
};

// A convolution in f32 of one picture with a rim of zeros, as a primitive made beforehand, in the layouts that the library
// chooses; what is given, nchw and oihw, is laid out once, which is not timed.
struct ConvolutionShape {
  std::int64_t channels, outputs, size, window, stride;
};
class OnednnConvolution {
 public:
  OnednnConvolution(const ConvolutionShape&, const float* x, const float* weights, float* result);
  void run() const;
  void take_result() const;            // in nchw, to where the constructor was told
  const char* implementation() const;  // as the library names it

 private:
  struct Made;
  std::shared_ptr<Made> made_;
};

// Attention of `heads` heads, softmax(q k' / sqrt(D)) v; k and v are [heads, length, D], q and y [heads, queries, D]. `made` of
// one head at a time, whose scores stay in the cache, or of all heads at once.
class OnednnAttention {
 public:
  OnednnAttention(bool head_by_head, const float* q, const float* k, const float* v, float* y, std::int64_t heads,
                  std::int64_t queries, std::int64_t length, std::int64_t D);
  void run() const;

 private:
  struct Made;
  std::shared_ptr<Made> made_;
};
void eigen_attention(const float* q, const float* k, const float* v, float* y, std::int64_t heads, std::int64_t queries,
                     std::int64_t length, std::int64_t D);

void eigen_threads(int);
void eigen_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
const char* eigen_about();

}  // namespace bench
