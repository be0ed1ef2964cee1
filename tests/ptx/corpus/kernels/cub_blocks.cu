// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUB's algorithms of a block and of a warp, and Thrust's of a thread. Blocks of 128 threads, four items each.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;

struct Larger {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
struct Unequal {
  __device__ bool operator()(int a, int b) const { return a != b; }
};

// Four sums and maxima of a block's elements, of the first `valid` threads too.
extern "C" __global__ void block_reductions(const int* in, int* out, int valid) {
  using Raking = cub::BlockReduce<int, kThreads, cub::BLOCK_REDUCE_RAKING>;
  using Shuffles = cub::BlockReduce<int, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ union {
    typename Raking::TempStorage raking;
    typename Shuffles::TempStorage shuffles;
  } s;
  int items[kItems];
  const int* from = in + blockIdx.x * kTile + threadIdx.x * kItems;
  for (int k = 0; k < kItems; ++k) items[k] = from[k];
  const int sum = Shuffles(s.shuffles).Sum(items);
  __syncthreads();
  const int greatest = Raking(s.raking).Reduce(items, Larger());
  __syncthreads();
  const int part = Raking(s.raking).Sum(items[0], valid);
  __syncthreads();
  const int part_greatest = Shuffles(s.shuffles).Reduce(items[1], Larger(), valid);
  if (threadIdx.x == 0) {
    int* to = out + blockIdx.x * 4;
    to[0] = sum, to[1] = greatest, to[2] = part, to[3] = part_greatest;
  }
}

extern "C" __global__ void block_scans(const int* in, int* out, int* greatest, int* totals, int n) {  // loads and stores through shared memory
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sums = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Maxima = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_RAKING>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sums::TempStorage sums;
    typename Maxima::TempStorage maxima;
  } s;
  const int first = blockIdx.x * kTile, here = min(n - first, kTile);
  int items[kItems], sums[kItems], maxima[kItems], total;
  Load(s.load).Load(in + first, items, here, 0);
  __syncthreads();
  Sums(s.sums).ExclusiveSum(items, sums, total);
  __syncthreads();
  Maxima(s.maxima).InclusiveScan(items, maxima, Larger());
  __syncthreads();
  Store(s.store).Store(out + first, sums, here);
  __syncthreads();
  Store(s.store).Store(greatest + first, maxima, here);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

extern "C" __global__ void block_sorts(const unsigned* keys, unsigned* sorted, int* places, const int* values, int* merged) {
  using Radix = cub::BlockRadixSort<unsigned, kThreads, kItems, int>;
  using Merge = cub::BlockMergeSort<int, kThreads, kItems>;
  __shared__ union {
    typename Radix::TempStorage radix;
    typename Merge::TempStorage merge;
  } s;
  const int first = blockIdx.x * kTile + threadIdx.x * kItems;
  unsigned k[kItems];
  int at[kItems], v[kItems];
  for (int i = 0; i < kItems; ++i) k[i] = keys[first + i], at[i] = threadIdx.x * kItems + i, v[i] = values[first + i];
  Radix(s.radix).Sort(k, at);
  __syncthreads();
  Merge(s.merge).Sort(v, Less());
  for (int i = 0; i < kItems; ++i) sorted[first + i] = k[i], places[first + i] = at[i], merged[first + i] = v[i];
}

extern "C" __global__ void block_exchange(const int* in, int* striped, int* heads) {
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  using Heads = cub::BlockDiscontinuity<int, kThreads>;
  __shared__ union {
    typename Exchange::TempStorage exchange;
    typename Heads::TempStorage heads;
  } s;
  const int first = threadIdx.x * kItems;
  int items[kItems], flags[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = in[first + i];
  Heads(s.heads).FlagHeads(flags, items, Unequal());
  __syncthreads();
  Exchange(s.exchange).BlockedToStriped(items, items);
  for (int i = 0; i < kItems; ++i) striped[threadIdx.x * kItems + i] = items[i], heads[first + i] = flags[i];
}

extern "C" __global__ void warps(const int* in, int* scanned, int* sums, int* sorted) {
  using Scan = cub::WarpScan<int>;
  using Reduce = cub::WarpReduce<int, 16>;
  using Sort = cub::WarpMergeSort<int, 2, 32>;
  __shared__ typename Scan::TempStorage scan[kThreads / 32];
  __shared__ typename Reduce::TempStorage reduce[kThreads / 16];
  __shared__ typename Sort::TempStorage sort[kThreads / 32];
  const int t = threadIdx.x, v = in[t];
  int exclusive, pair[2] = {v, in[kThreads + t]};
  Scan(scan[t / 32]).ExclusiveSum(v, exclusive);
  const int sum = Reduce(reduce[t / 16]).Sum(v);
  Sort(sort[t / 32]).Sort(pair, Less());
  scanned[t] = exclusive;
  if (t % 16 == 0) sums[t / 16] = sum;
  sorted[2 * t] = pair[0], sorted[2 * t + 1] = pair[1];
}

extern "C" __global__ void thrust_in_threads(int* rows, int* sums, int* found, int columns, int n) {  // a thread has a row
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* row = rows + i * columns;
  sums[i] = thrust::reduce(thrust::seq, row, row + columns, 1);
  thrust::inclusive_scan(thrust::seq, row, row + columns, row, Larger());
  found[i] = int(thrust::lower_bound(thrust::seq, row, row + columns, 60) - row);
  thrust::reverse(thrust::seq, row, row + columns);
}
