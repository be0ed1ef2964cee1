#include "kernels.h"

#include <atomic>
#include <cstddef>

namespace kernels {
namespace {

// ---- affine ----------------------------------------------------------------------------------------------------------
const ashlar_abi1_term kM[] = {{1, 0}}, kN[] = {{1, 1}}, kK[] = {{1, 2}};
const ashlar_abi1_dim kMK[] = {{"M", 0, kM, 1, -1}, {"K", 0, kK, 1, -1}}, kKN[] = {{"K", 0, kK, 1, -1}, {"N", 0, kN, 1, -1}},
                      kMN[] = {{"M", 0, kM, 1, -1}, {"N", 0, kN, 1, -1}}, kJustN[] = {{"N", 0, kN, 1, -1}};
const std::int32_t kStrideA[] = {offsetof(affine_args, A_stride0), -1}, kStrideB[] = {offsetof(affine_args, B_stride0), -1},
                   kStrideC[] = {offsetof(affine_args, C_stride0), -1};

constexpr ashlar_abi1_argument argument(const char* name, int kind, int rank, const ashlar_abi1_dim* dims,
                                        const std::int32_t* strides, std::size_t field, int code, int bits,
                                        int order = ASHLAR_ABI1_INNER_UNIT_STRIDE, std::int64_t align = 0, int flags = 0) {
  return {name,
          dims,
          strides,
          align,
          kind,
          rank,
          order,
          flags,
          static_cast<std::int32_t>(field),
          kind == ASHLAR_ABI1_SCALAR ? bits / 8 : 0,
          static_cast<std::uint8_t>(code),
          static_cast<std::uint8_t>(bits),
          {}};
}
const ashlar_abi1_argument kAffineArguments[] = {
    argument("A", ASHLAR_ABI1_INPUT, 2, kMK, kStrideA, offsetof(affine_args, A), 2, 32),
    argument("B", ASHLAR_ABI1_INPUT, 2, kKN, kStrideB, offsetof(affine_args, B), 2, 32),
    argument("bias", ASHLAR_ABI1_INPUT, 1, kJustN, nullptr, offsetof(affine_args, bias), 2, 32, ASHLAR_ABI1_DENSE),
    argument("alpha", ASHLAR_ABI1_SCALAR, 0, nullptr, nullptr, offsetof(affine_args, alpha), 2, 32),
    argument("C", ASHLAR_ABI1_OUTPUT, 2, kMN, kStrideC, offsetof(affine_args, C), 2, 32, ASHLAR_ABI1_INNER_UNIT_STRIDE, 16),
};
const ashlar_abi1_symbol kAffineSymbols[] = {{"M", 0, 512, 1, offsetof(affine_args, M), 0},
                                             {"N", 0, INT64_MAX, 1, offsetof(affine_args, N), 0},
                                             {"K", 0, INT64_MAX, 4, offsetof(affine_args, K), 0}};

std::size_t affine_workspace(const void* p, const ashlar_context* ctx) {
  const std::size_t slots = static_cast<std::size_t>(ctx->parallelism > 1 ? ctx->parallelism : 1);
  return slots * static_cast<std::size_t>(static_cast<const affine_args*>(p)->N) * sizeof(float);
}
struct Rows {
  const affine_args* a;
  float* scratch;
  std::atomic<std::int64_t> next{0};
};
void affine_row(const affine_args& a, std::int64_t i, float* sums) {
  for (std::int64_t j = 0; j < a.N; ++j) sums[j] = 0;
  for (std::int64_t k = 0; k < a.K; ++k)
    for (std::int64_t j = 0; j < a.N; ++j) sums[j] += a.A[i * a.A_stride0 + k] * a.B[k * a.B_stride0 + j];
  for (std::int64_t j = 0; j < a.N; ++j) a.C[i * a.C_stride0 + j] = a.alpha * sums[j] + a.bias[j];
}
int affine_slot(void* closure, std::int32_t slot) {  // one slot: pulls rows until none is left
  Rows& rows = *static_cast<Rows*>(closure);
  for (std::int64_t i; (i = rows.next++) < rows.a->M;) affine_row(*rows.a, i, rows.scratch + slot * rows.a->N);
  return 0;
}
int affine_run(const void* p, const ashlar_context* ctx) {
  Rows rows{static_cast<const affine_args*>(p), static_cast<float*>(ctx->workspace)};
  if (ctx->parallelism <= 1) return affine_slot(&rows, 0);
  return ctx->parallel_for(ctx->user, ctx->parallelism, affine_slot, &rows);
}

// ---- window ----------------------------------------------------------------------------------------------------------
const ashlar_abi1_term kN0[] = {{1, 0}};
const ashlar_abi1_dim kN4[] = {{"N + 4", 4, kN0, 1, -1}}, kPlainN[] = {{"N", 0, kN0, 1, -1}},
                      kMaxN2[] = {{"max(N, 2)", 0, nullptr, 0, 0}};
const std::int32_t kStrideX[] = {offsetof(window_args, x_stride0)};
const ashlar_abi1_argument kWindowArguments[] = {
    argument("x", ASHLAR_ABI1_INPUT, 1, kN4, kStrideX, offsetof(window_args, x), 0, 32, ASHLAR_ABI1_ANY),
    argument("y", ASHLAR_ABI1_OUTPUT, 1, kPlainN, nullptr, offsetof(window_args, y), 0, 32),
    argument("z", ASHLAR_ABI1_OUTPUT, 1, kMaxN2, nullptr, offsetof(window_args, z), 0, 32),
};
const ashlar_abi1_symbol kWindowSymbols[] = {{"N", 0, INT64_MAX, 1, offsetof(window_args, N), 0}};
const char* const kWindowAssumptions[] = {"N <= 100"};
void window_shape(const std::int64_t* symbols, std::int64_t* results) { results[0] = symbols[0] > 2 ? symbols[0] : 2; }
int window_assume(const std::int64_t* symbols) { return symbols[0] <= 100 ? 0 : 1; }
int window_run(const void* p, const ashlar_context* ctx) {
  const window_args& a = *static_cast<const window_args*>(p);
  if (a.N == 99) {
    *ctx->error = {ASHLAR_E_LAUNCH, -1, -1, 0, 99, "window: the device answered {found}"};
    return ASHLAR_E_LAUNCH;
  }
  if (a.N == 98) return 7;
  for (std::int64_t i = 0; i < a.N; ++i) a.y[i] = a.x[i * a.x_stride0] + a.x[(i + 4) * a.x_stride0];
  for (std::int64_t i = 0; i < (a.N > 2 ? a.N : 2); ++i) a.z[i] = 1;
  return 0;
}

}  // namespace

const ashlar_abi1_desc affine = {1,
                                 sizeof(ashlar_abi1_desc),
                                 "affine",
                                 1,
                                 0,
                                 0,
                                 5,
                                 3,
                                 0,
                                 0,
                                 sizeof(affine_args),
                                 kAffineArguments,
                                 kAffineSymbols,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 affine_workspace,
                                 64,
                                 affine_run,
                                 "sums"};
int affine_with(const ashlar_tensor* A, const ashlar_tensor* B, const ashlar_tensor* bias, float alpha, ashlar_tensor* C,
                const ashlar_context* ctx) {
  const void* arguments[] = {A, B, bias, &alpha, C};
  return ashlar_abi1_call(&affine, arguments, ctx);
}
int affine_f(const ashlar_tensor* A, const ashlar_tensor* B, const ashlar_tensor* bias, float alpha, ashlar_tensor* C) {
  return affine_with(A, B, bias, alpha, C, nullptr);
}

const ashlar_abi1_desc window = {1,
                                 sizeof(ashlar_abi1_desc),
                                 "window",
                                 1,
                                 0,
                                 0,
                                 3,
                                 1,
                                 1,
                                 1,
                                 sizeof(window_args),
                                 kWindowArguments,
                                 kWindowSymbols,
                                 kWindowAssumptions,
                                 window_shape,
                                 window_assume,
                                 nullptr,
                                 1,
                                 window_run,
                                 nullptr};
int window_with(const ashlar_tensor* x, ashlar_tensor* y, ashlar_tensor* z, const ashlar_context* ctx) {
  const void* arguments[] = {x, y, z};
  return ashlar_abi1_call(&window, arguments, ctx);
}

}  // namespace kernels
