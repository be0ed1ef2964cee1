// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products and attention by the families for tiles (docs/tiles.md), for the pack's cases of cuda-tile-sm_90 and for rows beside
// cuBLAS, SDPA, cuTile and Triton:
//
//   tile_matmul bf16                    C(i, j) = sum over k of A(i, k) B(k, j)
//   tile_attention 64 [causal] [fast]   bf16, with values of 64 elements; fast: approximate exponentials
#include <string>
#include <vector>

#include <ashlar/ir/program.h>

#include "bench/gpu/cases.h"

namespace gpu_bench {

struct TileKernel {
  ashlar::ir::Program algorithm;
  ashlar::ir::Kernel kernel;
};

// Throws std::runtime_error for another name.
TileKernel tile_kernel(const std::string& name, const std::string& target);

std::vector<Case> tile_cases(const std::string& target);

}  // namespace gpu_bench
