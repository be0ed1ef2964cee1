// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor cores: by wmma, and by mma.sync with ldmatrix. A warp makes one tile of c = a * b, of all of k.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
using u32 = unsigned;

extern "C" __global__ void wmma_f16(const __half* a, const __half* b, float* c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.25f);
  for (int k0 = 0; k0 < k; k0 += 16) {
    wmma::load_matrix_sync(fa, a + k0, k);
    wmma::load_matrix_sync(fb, b + k0 * 16, 16);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_f16_wide(const __half* a, const __half* b, __half* c, int k) {  // 32 x 8, the accumulator f16
  wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::col_major> fa;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 32, 8, 16, __half> fc;
  wmma::fill_fragment(fc, __float2half(0.0f));
  for (int k0 = 0; k0 < k; k0 += 16) {
    wmma::load_matrix_sync(fa, a + k0 * 32, 32);
    wmma::load_matrix_sync(fb, b + k0, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 32, wmma::mem_col_major);
}

extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  for (int k0 = 0; k0 < k; k0 += 16) {
    wmma::load_matrix_sync(fa, a + k0, k);
    wmma::load_matrix_sync(fb, b + k0, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k0 = 0; k0 < k; k0 += 8) {
    wmma::load_matrix_sync(fa, a + k0, k);
    wmma::load_matrix_sync(fb, b + k0, k);
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_s8(const signed char* a, const unsigned char* b, const unsigned char* ua, int* c, int* uc, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> ufa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> ufb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> ufc;
  wmma::fill_fragment(fc, -3);
  wmma::fill_fragment(ufc, 0);
  for (int k0 = 0; k0 < k; k0 += 16) {
    wmma::load_matrix_sync(fa, a + k0, k);
    wmma::load_matrix_sync(fb, reinterpret_cast<const signed char*>(b) + k0, k);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::load_matrix_sync(ufa, ua + k0, k);
    wmma::load_matrix_sync(ufb, b + k0, k);
    wmma::mma_sync(ufc, ufa, ufb, ufc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  wmma::store_matrix_sync(uc, ufc, 16, wmma::mem_col_major);
}

extern "C" __global__ void wmma_f64(const double* a, const double* b, double* c, int k) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  wmma::fill_fragment(fc, 0.0);
  for (int k0 = 0; k0 < k; k0 += 4) {
    wmma::load_matrix_sync(fa, a + k0, k);
    wmma::load_matrix_sync(fb, b + k0, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

// ---- mma.sync, m16n8k16 and others: a by rows [16, k], b by columns [8, k], c [16, 8]. The fragments as the PTX ISA document has them:
// lane = 4 * group + place.
__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void mma_ldmatrix(const __half* a, const __half* b, float* c, int k) {  // b [k, 8]: transposed while it is loaded
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
  const int lane = threadIdx.x;
  float d[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = lane; i < 256; i += 32) sa[i] = a[(i / 16) * k + k0 + i % 16];
    for (int i = lane; i < 128; i += 32) sb[i] = b[(k0 + i / 8) * 8 + i % 8];
    __syncwarp();
    u32 fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(shared_address(&sa[(lane % 16) * 16 + lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(shared_address(&sb[(lane % 16) * 8])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// One product of each type out of registers that are loaded by the document's tables. Words of a row: 32 bits each.
extern "C" __global__ void mma_bf16(const u32* a, const u32* b, float* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const u32 a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4], b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];
  float d[4];
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(1.0f));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
extern "C" __global__ void mma_tf32(const u32* a, const u32* b, float* c) {  // k8
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const u32 a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4], b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];
  float d[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(0.0f));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
extern "C" __global__ void mma_s8(const u32* a, const u32* b, int* c, int* saturated) {  // k32, then .satfinite with u8 and s8
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const u32 a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4], b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];
  int d[4], s[4];
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(-7));
  asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(0x7fffff00));
  for (int i = 0; i < 4; ++i) {
    c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
    saturated[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = s[i];
  }
}
extern "C" __global__ void mma_f16_sums(const u32* a, const u32* b, u32* c) {  // c and d of f16, two in a register; m16n8k8
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  u32 d0, d1;
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %5};"
      : "=r"(d0), "=r"(d1)
      : "r"(a[g * 4 + t]), "r"(a[(g + 8) * 4 + t]), "r"(b[g * 4 + t]), "r"(0x3c003800));
  c[g * 4 + t] = d0, c[(g + 8) * 4 + t] = d1;
}
extern "C" __global__ void transposed_matrix(const u32* in, u32* out) {  // movmatrix of 8 x 8 halves
  u32 v = in[threadIdx.x];
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(v));
  out[threadIdx.x] = v;
}
