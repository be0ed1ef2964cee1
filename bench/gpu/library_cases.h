#pragma once
// Operators of ashlar-ops, as their generators schedule them by default for the device.
//
//   ir::Kernel k = library_kernel("matmul type=bf16 transpose_b=true", "cuda-sm_90a");      // RefusalError: what it says
#include <string>

#include <ashlar/ir/kernel.h>

namespace gpu_bench {

ashlar::ir::Kernel library_kernel(const std::string& line, const std::string& target);

}  // namespace gpu_bench
