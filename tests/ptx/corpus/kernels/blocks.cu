// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a block together: shared memory, barriers, warps, atomics, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "rows.h"

namespace cg = cooperative_groups;

// ---- shared memory
extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][17], tb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    ta[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;
    tb[ty][tx] = column < n && k0 + ty < k ? b[(k0 + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int kk = 0; kk < 16; ++kk) sum = __fmaf_rn(ta[ty][kk], tb[kk][tx], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void transpose(const double* in, double* out, int rows, int columns) {
  __shared__ double tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void prefix_sums(const int* in, int* out, int* totals, int n) {  // dynamic shared memory, Hillis and Steele
  extern __shared__ int buffer[];
  const int t = threadIdx.x, size = blockDim.x, i = index();
  int from = 0;
  buffer[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < size; step *= 2, from ^= 1) {
    buffer[(from ^ 1) * size + t] = buffer[from * size + t] + (t >= step ? buffer[from * size + t - step] : 0);
    __syncthreads();
  }
  if (i < n) out[i] = buffer[from * size + t];
  if (t == size - 1) totals[blockIdx.x] = buffer[from * size + t];
}

extern "C" __global__ void bitonic_sort(unsigned* values) {  // 256 of a block
  __shared__ unsigned s[256];
  const unsigned t = threadIdx.x;
  s[t] = values[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 2; k <= 256; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const unsigned other = t ^ j;
      if (other > t) {
        const unsigned a = s[t], b = s[other];
        if ((a > b) == ((t & k) == 0)) s[t] = b, s[other] = a;
      }
      __syncthreads();
    }
  values[blockIdx.x * 256 + t] = s[t];
}

extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
  __shared__ float tile[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      const int sx = min(max(int(blockIdx.x) * 32 + i - 1, 0), width - 1), sy = min(max(int(blockIdx.y) * 8 + j - 1, 0), height - 1);
      tile[j][i] = in[sy * width + sx];
    }
  __syncthreads();
  if (x >= width || y >= height) return;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  out[y * width + x] = 0.5f * tile[j][i] + 0.125f * (tile[j - 1][i] + tile[j + 1][i]) + 0.125f * (tile[j][i - 1] + tile[j][i + 1]);
}

extern "C" __global__ void barrier_votes(const int* a, int* out) {  // one block
  const int v = a[threadIdx.x];
  out[threadIdx.x] = __syncthreads_count(v > 0);
  out[blockDim.x + threadIdx.x] = __syncthreads_and(v > -50);
  out[2 * blockDim.x + threadIdx.x] = __syncthreads_or(v == 99);
}

// ---- warps
extern "C" __global__ void warp_sums(const float* in, const int* whole, float* out, int* greatest, int n) {
  __shared__ float sums[8];
  const int i = index(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = i < n ? in[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (lane == 0) sums[warp] = v;
  int m = i < n ? whole[i] : int(0x80000000);
  for (int d = 16; d > 0; d /= 2) m = max(m, __shfl_xor_sync(0xffffffff, m, d));
  if (lane == 0) atomicMax(greatest, m);
  __syncthreads();
  if (threadIdx.x < 8) {
    v = sums[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xff, v, d, 8);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

extern "C" __global__ void warp_votes(const int* a, unsigned* out) {  // full warps
  const int i = index(), n = gridDim.x * blockDim.x;
  const int v = a[i];
  Rows<unsigned> o(out, i, n);
  const unsigned all = 0xffffffff;
  o << __ballot_sync(all, v & 1) << unsigned(__any_sync(all, v == 7)) << unsigned(__all_sync(all, v >= 0)) << __match_any_sync(all, v);
  int same;
  o << __match_all_sync(all, v >> 4, &same) << unsigned(same);
  o << unsigned(__popc(__ballot_sync(all, v & 2) & ((1u << (threadIdx.x & 31)) - 1)));  // how many before me
  o << unsigned(__shfl_sync(all, v, v & 31)) << unsigned(__shfl_up_sync(all, v, 3)) << unsigned(__shfl_sync(all, v, v, 8)) << unsigned(__shfl_down_sync(all, v, 5, 16));
  o << __reduce_add_sync(all, unsigned(v)) << unsigned(__reduce_min_sync(all, v)) << __reduce_max_sync(all, unsigned(v)) << __reduce_xor_sync(all, unsigned(v));
  o << __reduce_and_sync(all, unsigned(v)) << __reduce_or_sync(all, unsigned(v));
  unsigned part = 0;
  if (v & 1) part = __reduce_add_sync(__activemask(), 1u);  // of those that are here
  o << part;
  __syncwarp();
  unsigned wide[2];
  const unsigned long long both = __shfl_xor_sync(all, (unsigned long long)v << 32 | unsigned(i), 1);
  wide[0] = unsigned(both), wide[1] = unsigned(both >> 32);
  o << wide[0] << wide[1];
  unsigned eq, lt, le, gt, ge;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  o << eq << lt << le << gt << ge;
}

extern "C" __global__ void groups(const int* in, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const int i = int(cg::this_grid().thread_rank()), n = gridDim.x * blockDim.x;
  Rows<int> o(out, i, n);
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
  const int v = in[i];
  o << cg::reduce(warp, v, cg::plus<int>()) << cg::reduce(eight, v, cg::less<int>()) << cg::inclusive_scan(warp, v) << cg::exclusive_scan(eight, v, cg::plus<int>());
  o << int(eight.meta_group_rank()) << eight.shfl(v, 3) << int(eight.ballot(v > 0)) << eight.any(v > 90);
  int members = 0, rank = 0;
  if (v % 3 == 0) {
    const cg::coalesced_group those = cg::coalesced_threads();
    members = int(those.size()), rank = int(those.thread_rank());
  }
  o << members << rank;
  const auto parity = cg::labeled_partition(warp, v & 1);
  o << int(parity.size()) << cg::reduce(parity, v, cg::plus<int>());
  block.sync();
}

// ---- atomics
extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = index(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (bins[b] != 0) atomicAdd(&out[b], bins[b]);
}

struct Sums {
  int add, least, greatest, both;
  unsigned above, any, parity, wraps, down;
  unsigned exchanged, falls;
  unsigned long long wide, widest, swapped;
  float f;
  double d;
  __half2 h;
};
extern "C" __global__ void atomics(const int* a, const Sums* start, Sums* sums, unsigned* before, int n) {
  __shared__ Sums s;
  if (threadIdx.x == 0) s = *start;
  __syncthreads();
  const int i = index();
  const int v = a[i % n];
  for (Sums* p : {&s, sums}) {
    atomicAdd(&p->add, v), atomicMin(&p->least, v), atomicMax(&p->greatest, v), atomicAnd(&p->both, v | 0x0ff0);
    atomicMax(&p->above, unsigned(v)), atomicOr(&p->any, unsigned(v) & 0xf0f), atomicXor(&p->parity, unsigned(v));
    atomicAdd(&p->wide, (unsigned long long)(long long)v), atomicMax(&p->widest, (unsigned long long)unsigned(v) << 20);
    atomicAdd(&p->f, float(v & 15)), atomicAdd(&p->d, double(v) * 0.5), atomicAdd(&p->h, __floats2half2_rn(float(v & 3), -1.0f));
    atomicSub(&p->down, 3u);
    unsigned seen = atomicInc(&p->wraps, 9u);
    if (p == sums) before[i] = seen;
    unsigned long long old = atomicCAS(&p->swapped, 0ull, 0ull), assumed;
    do {
      assumed = old;
      old = atomicCAS(&p->swapped, assumed, assumed * 3 + 1);
    } while (old != assumed);
  }
  atomicDec(&sums->falls, 1000u);
  if (threadIdx.x == 7) before[gridDim.x * blockDim.x + blockIdx.x] = atomicExch(&sums->exchanged, blockIdx.x + 1);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) sums[1] = s;  // of the first block alone
}

extern "C" __global__ void last_block(const int* in, int* partial, unsigned* arrived, int* out, int n) {  // of all blocks, the last adds up
  __shared__ bool last;
  const int i = index();
  const int sum = __syncthreads_count(i < n && in[i] > 0);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += static_cast<volatile int*>(partial)[b];
    *out = total;
  }
}

// ---- asynchronous copies
extern "C" __global__ void pipelined(const float4* in, float4* out, int tiles) {  // a ring of three
  __shared__ float4 ring[3][64];
  const int t = threadIdx.x;
  const float4* from = in + blockIdx.x * tiles * 64;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < 2; ++k) {
    if (k < tiles) __pipeline_memcpy_async(&ring[k][t], &from[k * 64 + t], sizeof(float4));
    __pipeline_commit();
  }
  for (int k = 0; k < tiles; ++k) {
    if (k + 2 < tiles) __pipeline_memcpy_async(&ring[(k + 2) % 3][t], &from[(k + 2) * 64 + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    const float4 v = ring[k % 3][63 - t];
    sum.x += v.x, sum.y += v.y * 2, sum.z = fmaxf(sum.z, v.z), sum.w -= v.w;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

extern "C" __global__ void copied_sizes(const int* in, int* out, int n) {  // 4, 8 and 16 bytes, and zeros beyond the end
  __shared__ __align__(16) int four[32], eight[64], sixteen[128];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&four[t], &in[t], 4, t < n ? 0 : 4);
  __pipeline_memcpy_async(&eight[2 * t], &in[2 * t], 8);
  __pipeline_memcpy_async(&sixteen[4 * t], &in[4 * t], 16, t % 2 ? 8 : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = four[31 - t];
  out[32 + t] = eight[63 - t];
  for (int k = 0; k < 4; ++k) out[64 + 4 * t + k] = sixteen[127 - 4 * t - k];
}
