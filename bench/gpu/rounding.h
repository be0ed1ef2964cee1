// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Kernels some of whose sums the device may round otherwise than the interpreter (ir::Intrinsic::rounds_freely): how far their
// results may be apart. The bound on a sum is that of docs/ir.md, "Tensor cores".
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/kernel.h>

namespace gpu_bench {

bool rounds_freely(const ashlar::ir::Kernel&);

class FreeSums {
 public:
  // Of a call with these arguments. The sums of the magnitudes are what the kernel gives for the magnitudes of its inputs.
  FreeSums(const ashlar::ir::Kernel&, const ashlar::interp::Arguments& given);
  // "", or the first element of argument n that lies farther from the interpreter's than the bound.
  std::string beyond(std::size_t n, const ashlar::interp::Array& found, const ashlar::interp::Array& meant) const;
  // The bound on an element of argument n is the sum of two parts: of this, for the sum; and of `last` times the two
  // magnitudes, for the rounding to the type of the result.
  double most(std::size_t n, std::span<const std::int64_t> at) const;
  static double last(ashlar::Type);

 private:
  ashlar::interp::Arguments magnitudes_;
  double terms_ = 1;             // no sum of the kernel has more
  double factors_ = 0;           // of a factor that the device rounds to 16 bits and the interpreter does not
  std::vector<double> largest_;  // magnitude, of each argument
};

}  // namespace gpu_bench
