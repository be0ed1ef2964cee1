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
#include "tests/support/mma_operators.h"

namespace gpu_bench {

// "cuda-sm_90a" for a device of 9.0; empty where there is no target for it.
std::string target_for(const Device&);

// By name: add_bias, transpose, product, softmax, sum, conv3x3, attention; mma_product, of bf16 by a user's instruction, for
// whole tiles of 128 x 128 x 32; matmul, the persistent product on as many blocks as the device has multiprocessors, for
// cuda-sm_90a, "matmul 132" for 132 of them; "gpu_matmul f32" and "gpu_matmul bf16", the family as it is; "ashlar-ops softmax
// type=bf16", an operator of the library with parameters, as it is scheduled by default; those of tile_kernels.h.
ashlar::ir::Kernel kernel_named(const std::string& name, const std::string& target);

ashlar::ir::Kernel mma_product(const std::string& target, const mma_operators::Options&);

// Arguments of a call in the device's memory, between bands that nothing may write.
class Tensors {
 public:
  Tensors(const Device&, const ashlar::interp::Arguments&);
  std::span<const void* const> list() const { return list_; }
  std::string read(std::size_t n, ashlar::interp::Array&) const;  // "", or that the bands were written
  void* pointer(std::size_t n) const;

 private:
  struct Part {
    std::unique_ptr<Memory> memory;
    std::size_t bytes = 0;
    std::vector<std::int64_t> shape, strides;
    ashlar_tensor tensor = {};
    std::uint64_t scalar = 0;
  };
  std::vector<Part> parts_;
  std::vector<const void*> list_;
};

// Random arguments of a kernel at these values of its symbols, by name: real numbers, whole numbers from -2 to 2, any bits
// there are (infinities, NaNs, the largest integers).
enum class Data { reals, integers, bits };
using Sizes = std::map<std::string, std::int64_t>;
ashlar::interp::Arguments arguments_of(const ashlar::ir::Kernel&, const Sizes&, Data = Data::reals);

std::string last_sentence();

ashlar::interp::Array random_array(ashlar::Type, std::vector<std::int64_t> shape, unsigned seed, bool integers = false);

// Prints a table for docs/performance.md: this device's times beside cuBLAS's, in this process.
int times(const Device&);

}  // namespace gpu_bench
