// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thrust on vectors of the device: pointers are the host's. 0, or 1 where Thrust threw.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <cstdio>

namespace {

template <class F>
int reported(F f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

struct Scaled {
  int by;
  __host__ __device__ int operator()(int a, int b) const { return a * by - b; }
};
struct Halved {
  __host__ __device__ void operator()(int& v) const { v = v / 2 + 1; }
};
struct ByLastDigit {
  __host__ __device__ bool operator()(int a, int b) const { return a % 10 != b % 10 ? a % 10 < b % 10 : a < b; }
};

}  // namespace

extern "C" int thrust_transform(const int* a, const int* b, int* out, int n) {  // (3 a - b) / 2 + 1 + the index
  return reported([&] {
    thrust::device_vector<int> x(a, a + n), y(b, b + n), index(n);
    thrust::transform(x.begin(), x.end(), y.begin(), x.begin(), Scaled{3});
    thrust::for_each(x.begin(), x.end(), Halved());
    thrust::sequence(index.begin(), index.end());
    thrust::transform(x.begin(), x.end(), index.begin(), x.begin(), thrust::plus<int>());
    thrust::copy(x.begin(), x.end(), out);
  });
}
extern "C" int thrust_scan(const int* in, int* out, int* total, int n) {
  return reported([&] {
    thrust::device_vector<int> x(in, in + n);
    *total = thrust::reduce(x.begin(), x.end(), 5);
    thrust::inclusive_scan(x.begin(), x.end(), x.begin());
    thrust::copy(x.begin(), x.end(), out);
  });
}
extern "C" int thrust_sort(const int* in, int* sorted, int* by_digit, int* distinct, int n) {  // returns -1 - count of the distinct ones
  int count = 0;
  const int r = reported([&] {
    thrust::device_vector<int> x(in, in + n), y(x);
    thrust::sort(x.begin(), x.end());  // by radix
    thrust::copy(x.begin(), x.end(), sorted);
    thrust::stable_sort(y.begin(), y.end(), ByLastDigit());  // by merging
    thrust::copy(y.begin(), y.end(), by_digit);
    const auto end = thrust::unique(x.begin(), x.end());
    count = int(end - x.begin());
    thrust::copy(x.begin(), end, distinct);
  });
  return r != 0 ? r : -1 - count;
}
