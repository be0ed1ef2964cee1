// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The part of gpu_matmul for Vulkan, whose threads compute with vectors.
#include <ashlar/schedules/gpu_matmul.h>

namespace ashlar::schedules::detail {

// `sums` are those of the product in Scope::registers, `result` the stage with the loops over the elements.
void vector_product(Schedule& s, const Stage& sums, const Stage& result, const Tensor& A, const Tensor& B,
                    const GpuMatmulOptions& o, Where where);

}  // namespace ashlar::schedules::detail
