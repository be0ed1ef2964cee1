// Resident blocks, and units of allocation: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and
// "Shared Memory" of each compute capability (1 KiB of each block is the system's); CUDA Occupancy Calculator for the unit of
// registers. Multiprocessors, bandwidth and f32 rates: NVIDIA A100 Tensor Core GPU data sheet (SXM4, 40 GB); NVIDIA H100 Tensor
// Core GPU data sheet (SXM5, 80 GB); NVIDIA HGX B200 data sheet (an eighth of the board's figures).
#include "lower/device_figures.h"

namespace ashlar::lower_impl {

const DeviceFigures* figures_of(std::string_view target) {
  static constexpr DeviceFigures table[] = {
      {"cuda-sm_80", "A100 SXM4 40 GB", 108, 32, 256, 128, 1024, 1555e9, 19.5e12},
      {"cuda-sm_90a", "H100 SXM5 80 GB", 132, 32, 256, 128, 1024, 3350e9, 67e12},
      {"cuda-sm_100a", "B200", 148, 32, 256, 128, 1024, 8000e9, 75e12},
  };
  for (const DeviceFigures& f : table)
    if (target == f.target) return &f;
  return nullptr;
}

}  // namespace ashlar::lower_impl
