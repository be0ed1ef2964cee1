// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Memory of the device for tests of programs, by the CUDA runtime over the executor.
#include <doctest/doctest.h>

#include <cuda_runtime_api.h>

#include <vector>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) {  // not written
    void* p = nullptr;
    REQUIRE(cudaMalloc(&p, count * sizeof(T)) == cudaSuccess);
    p_ = static_cast<T*>(p);
  }
  explicit OnDevice(const std::vector<T>& v) : OnDevice(v.size()) {
    REQUIRE(cudaMemcpy(p_, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(p_); }

  T* data() { return p_; }
  std::vector<T> get() { return get(count_); }
  std::vector<T> get(std::size_t count) {
    std::vector<T> v(count);
    REQUIRE(cudaMemcpy(v.data(), p_, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return v;
  }

 private:
  T* p_ = nullptr;
  std::size_t count_;
};

}  // namespace ashlar::ptx_corpus
