// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Results of an element one after another: Rows o(out, i, n); o << a << b puts them at out[i] and out[n + i].

__device__ __forceinline__ int index() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

template <class T>
struct Rows {
  T* at;
  int stride;
  __device__ Rows(T* out, int i, int n) : at(out + i), stride(n) {}
  __device__ Rows& operator<<(T value) {
    *at = value;
    at += stride;
    return *this;
  }
};
