#pragma once
// Two kernels written by hand as the compiler writes them: a descriptor, a run function, and thunks.
//
//   affine   C[M, N] = alpha * A[M, K] . B[K, N] + bias[N]     K a multiple of 4, M <= 512; rows in parallel; per-worker
//   scratch window   y[N] = x[N] + x[N + 4], z[max(N, 2)] = 1           x: any strides; y may alias x never; an assumption N <=
//   100
#include <ashlar/runtime/runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/sentence.h"

namespace kernels {

struct affine_args {
  const float *A, *B, *bias;
  float* C;
  std::int64_t M, N, K, A_stride0, B_stride0, C_stride0;
  float alpha;
};
extern const ashlar_abi1_desc affine;
int affine_f(const ashlar_tensor* A, const ashlar_tensor* B, const ashlar_tensor* bias, float alpha, ashlar_tensor* C);
int affine_with(const ashlar_tensor* A, const ashlar_tensor* B, const ashlar_tensor* bias, float alpha, ashlar_tensor* C,
                const ashlar_context* ctx);

struct window_args {
  const std::int32_t* x;
  std::int32_t *y, *z;
  std::int64_t N, x_stride0;
};
extern const ashlar_abi1_desc window;
int window_with(const ashlar_tensor* x, ashlar_tensor* y, ashlar_tensor* z, const ashlar_context* ctx);

// A tensor over a vector of its own; dense unless strides are given.
template <class T>
struct Array {
  std::vector<T> data;
  std::vector<std::int64_t> shape, strides;
  ashlar_tensor tensor{};
  explicit Array(std::vector<std::int64_t> extents, T fill = T(), std::vector<std::int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
      count = strides.empty() ? count * shape[d] : count + (shape[d] - 1) * strides[d];
    data.assign(static_cast<std::size_t>(count), fill);
    constexpr bool is_float = T(1) / T(2) != T(0);
    constexpr bool is_signed = T(-1) < T(0);
    tensor.data = data.data();
    tensor.device_type = 1;
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.type_code = is_float ? 2 : is_signed ? 0 : 1;
    tensor.type_bits = 8 * sizeof(T);
    tensor.type_lanes = 1;
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  Array(const Array&) = delete;
  ashlar_tensor* operator&() { return &tensor; }
};

using test::sentence;

}  // namespace kernels
