// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resident blocks, and units of allocation: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and
// "Shared Memory" of each compute capability (1 KiB of each block is the system's); the partitions of a multiprocessor and the
// unit of registers: CUDA Occupancy Calculator (cuda_occupancy.h of the toolkit).
// A100: NVIDIA A100 Tensor Core GPU Architecture (white paper), table of the peak rates; bandwidth of the data sheet (SXM4,
// 40 GB). Jetson AGX Orin: NVIDIA Jetson AGX Orin Series Technical Brief, the rate of integers with sparsity halved; it has no
// others. H100: NVIDIA H100 Tensor Core GPU Architecture (white paper), SXM5; bandwidth of the data sheet (80 GB). B200: an
// eighth of the board's figures in the NVIDIA HGX B200 data sheet, rates with sparsity halved. That sheet has no rate of 16
// bits or integers without matrix units. Numbers of multiprocessors are those of the targets (src/target).
#include "report/device_figures.h"

#include <algorithm>

namespace ashlar::report {

const DeviceFigures* figures_of(std::string_view target) {
  static constexpr DeviceFigures table[] = {
      {"cuda-sm_80", "A100 SXM4 40 GB", 32, 4, 256, 128, 1024, 1555e9, {9.7, 19.5, 78, 39, 19.5}, {19.5, 312, 312, 624, 0}},
      {"cuda-sm_87", "Jetson AGX Orin 64 GB", 16, 4, 256, 128, 1024, 204.8e9, {0, 5.3, 0, 0, 0}, {0, 0, 0, 85, 0}},
      {"cuda-sm_90a",
       "H100 SXM5 80 GB",
       32,
       4,
       256,
       128,
       1024,
       3350e9,
       {33.5, 66.9, 133.8, 133.8, 33.5},
       {66.9, 989.4, 989.4, 1978.9, 1978.9}},
      {"cuda-sm_100a", "B200", 32, 4, 256, 128, 1024, 7700e9, {37, 75, 0, 0, 0}, {37, 2250, 2250, 4500, 4500}},
  };
  for (const DeviceFigures& f : table)
    if (target == f.target) return &f;
  return nullptr;
}

double operations_a_second(const DeviceFigures& d, Type t, bool matrix_units) {
  double tera = 0;
  const Type e = t.element();
  if (matrix_units)
    tera = e == f64                 ? d.matrix.f64
           : e == f16               ? d.matrix.f16
           : e == bf16              ? d.matrix.bf16
           : e == i8 || e == u8     ? d.matrix.i8
           : e == e4m3 || e == e5m2 ? d.matrix.fp8
                                    : 0;
  else
    tera = e == f64               ? d.ordinary.f64
           : e == f32             ? d.ordinary.f32
           : e == f16             ? d.ordinary.f16
           : e == bf16            ? d.ordinary.bf16
           : e == i32 || e == u32 ? d.ordinary.i32
                                  : 0;
  return tera * 1e12;
}

std::int64_t Resident::least() const { return std::min({by_threads, by_blocks, by_shared, by_registers}); }

Resident resident_blocks(const Device& d, const DeviceFigures& f, std::int64_t threads, std::int64_t registers,
                         std::int64_t shared_bytes) {
  const auto up = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
  const std::int64_t warps = (threads + d.warp - 1) / d.warp;
  const std::int64_t of_warp = up(std::max<std::int64_t>(registers, 1) * d.warp, f.register_unit);
  const std::int64_t warps_by_registers = d.registers / f.partitions / of_warp * f.partitions;
  return {d.multiprocessor_threads / (warps * d.warp), f.blocks,
          d.multiprocessor_shared_bytes / up(shared_bytes + f.shared_reserved, f.shared_unit), warps_by_registers / warps};
}

}  // namespace ashlar::report
