#pragma once
// What runs on the device: the operators of tests/support/gpu_operators.h and the programs by hand, compiled for the chip at
// hand.
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>

#include "bench/gpu/device.h"

namespace gpu_bench {

// "cuda-sm_90a" for a device of 9.0; empty where there is no target for it.
std::string target_for(const Device&);

struct Case {
  std::string name;
  ashlar::ir::Kernel kernel;
  double relative = 0;                          // bound on the error where a tensor core adds in an order of its own
  std::vector<ashlar::interp::Arguments> data;  // random, one for each shape
};
std::vector<Case> cases(const std::string& target);

// By name: add_bias, transpose, product, softmax, sum, conv3x3, attention; mma_product, of bf16 by a user's instruction, for
// whole tiles of 128 x 128 x 32; matmul, the persistent product on as many blocks as an H100 has multiprocessors, for
// cuda-sm_90a.
ashlar::ir::Kernel kernel_named(const std::string& name, const std::string& target);

// Tensors of a call, in the device's memory.
class Tensors {
 public:
  Tensors(const Device&, const ashlar::interp::Arguments&);
  std::span<const void* const> list() const { return list_; }
  void read(std::size_t n, ashlar::interp::Array&) const;
  void* pointer(std::size_t n) const { return memory_[n]->pointer(); }

 private:
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<ashlar_tensor> tensors_;
  std::vector<const void*> list_;
};

// Random arguments of a kernel at these values of its symbols.
ashlar::interp::Arguments arguments_of(const ashlar::ir::Kernel&, const std::map<std::string, std::int64_t>& sizes);

std::string last_sentence();

ashlar::interp::Array random_array(ashlar::Type, std::vector<std::int64_t> shape, unsigned seed, bool integers = false);

// Compares every case with the interpreter, to the bit; prints a line for each; how many differ.
int check(const Device&);

// Prints a table for docs/performance.md: this device's times beside cuBLAS's, in this process.
int times(const Device&);

}  // namespace gpu_bench
