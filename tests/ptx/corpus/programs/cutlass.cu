// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of CUTLASS: d = alpha a b + beta c. a [m, k] and c, d [m, n] by rows. Pointers are the device's; 0 is success.
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_universal.h>

using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Half = cutlass::half_t;

namespace {

template <class Gemm, class A, class B, class C>
int run(const A* a, const B* b, const C* c, C* d, int m, int n, int k, int b_stride, float alpha, float beta) {
  Gemm gemm;
  const typename Gemm::Arguments arguments({m, n, k}, {a, k}, {b, b_stride}, {c, n}, {d, n}, {alpha, beta});
  const cutlass::Status can = gemm.can_implement(arguments);
  return int(can != cutlass::Status::kSuccess ? can : gemm(arguments));
}

}  // namespace

// The CUDA cores: f32.
extern "C" int cutlass_simt(const float* a, const float* b, const float* c, float* d, int m, int n, int k) {  // b by rows
  using Gemm = cutlass::gemm::device::Gemm<float, Row, float, Row, float, Row, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm80, GemmShape<64, 64, 8>,
                                           GemmShape<32, 32, 8>, GemmShape<1, 1, 1>, cutlass::epilogue::thread::LinearCombination<float, 1, float, float>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 2>;
  return run<Gemm>(a, b, c, d, m, n, k, n, 1.5f, 0.5f);
}

// Tensor cores, f16 to f32: three stages of cp.async, ldmatrix, swizzled shared memory. b by columns.
extern "C" int cutlass_f16(const Half* a, const Half* b, const float* c, float* d, int m, int n, int k) {
  using Gemm = cutlass::gemm::device::Gemm<Half, Row, Half, Column, float, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 32>,
                                           GemmShape<32, 32, 32>, GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
  return run<Gemm>(a, b, c, d, m, n, k, k, 1.5f, 0.5f);
}

// The same of bf16, b by rows: ldmatrix transposes it. Four stages; the result bf16.
using Brain = cutlass::bfloat16_t;
extern "C" int cutlass_bf16(const Brain* a, const Brain* b, const Brain* c, Brain* d, int m, int n, int k) {
  using Gemm = cutlass::gemm::device::Gemm<Brain, Row, Brain, Row, Brain, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 128, 32>,
                                           GemmShape<32, 64, 32>, GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<Brain, 8, float, float>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 4>;
  return run<Gemm>(a, b, c, d, m, n, k, n, 1.0f, 1.0f);
}

// Integers: s8 to s32, exact.
extern "C" int cutlass_s8(const std::int8_t* a, const std::int8_t* b, const int* c, int* d, int m, int n, int k) {
  using Gemm = cutlass::gemm::device::Gemm<std::int8_t, Row, std::int8_t, Column, int, Row, int, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 64>,
                                           GemmShape<32, 32, 64>, GemmShape<16, 8, 32>, cutlass::epilogue::thread::LinearCombination<int, 4, int, int>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
  Gemm gemm;
  const Gemm::Arguments arguments({m, n, k}, {a, k}, {b, k}, {c, n}, {d, n}, {1, 2});
  const cutlass::Status can = gemm.can_implement(arguments);
  return int(can != cutlass::Status::kSuccess ? can : gemm(arguments));
}
