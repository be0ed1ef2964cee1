// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUB's algorithms of a whole device. Pointers are the device's; each returns what CUB returns.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>

namespace {

// Each is called twice, as CUB has it: for the size of its workspace, then to run.
template <class F>
int with_workspace(F f) {
  std::size_t bytes = 0;
  cudaError_t e = f(nullptr, bytes);
  if (e != cudaSuccess) return e;
  void* workspace = nullptr;
  e = cudaMalloc(&workspace, bytes);
  if (e != cudaSuccess) return e;
  e = f(workspace, bytes);
  const cudaError_t freed = cudaFree(workspace);
  return e != cudaSuccess ? e : freed;
}

struct Even {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};

}  // namespace

extern "C" int cub_sum(const int* in, int* out, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceReduce::Sum(w, b, in, out, n); });
}
extern "C" int cub_least(const float* in, float* out, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceReduce::Min(w, b, in, out, n); });
}
extern "C" int cub_segments(const int* in, int* out, const int* begins, int segments) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceSegmentedReduce::Sum(w, b, in, out, segments, begins, begins + 1); });
}
extern "C" int cub_scan(const int* in, int* out, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceScan::ExclusiveSum(w, b, in, out, n); });
}
extern "C" int cub_select(const int* in, int* out, int* count, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceSelect::If(w, b, in, out, count, n, Even()); });
}
extern "C" int cub_runs(const int* in, int* values, int* lengths, int* count, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceRunLengthEncode::Encode(w, b, in, values, lengths, count, n); });
}
extern "C" int cub_histogram(const unsigned char* in, int* bins, int n) {  // 16 bins of 0 to 256
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceHistogram::HistogramEven(w, b, in, bins, 17, 0, 256, n); });
}
extern "C" int cub_sort_pairs(const unsigned* keys, unsigned* keys_out, const int* values, int* values_out, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceRadixSort::SortPairs(w, b, keys, keys_out, values, values_out, n); });
}
extern "C" int cub_sort_down(const float* keys, float* keys_out, int n) {
  return with_workspace([&](void* w, std::size_t& b) { return cub::DeviceRadixSort::SortKeysDescending(w, b, keys, keys_out, n); });
}
