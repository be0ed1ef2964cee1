// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What explain() compares a launch with: devices that a target stands for, and how a multiprocessor divides its memories.
#include <cstdint>
#include <string_view>

#include <ashlar/ir/type.h>
#include <ashlar/target/target.h>

namespace ashlar::report {

struct DeviceFigures {
  const char* target;  // "cuda-sm_80"
  const char* model;
  int blocks;                    // resident, of one multiprocessor
  int partitions;                // of a multiprocessor: a warp lies in one, and so do its registers
  std::int64_t register_unit;    // registers are given to warps in multiples of this
  std::int64_t shared_unit;      // shared memory to blocks
  std::int64_t shared_reserved;  // of each block, by the system
  double bandwidth;              // bytes a second of global memory
  // 10^12 operations a second, an fma counting as two; 0: no figure is known. Those of the ordinary units, and dense ones of
  // the matrix units by the type that is multiplied.
  struct Rates {
    double f64, f32, f16, bf16, i32;
  } ordinary;
  struct MatrixRates {
    double f64, f16, bf16, i8, fp8;
  } matrix;
  double f32_operations() const { return ordinary.f32 * 1e12; }
};

// Operations a second on elements of a type, the most that the device is said to reach; 0 where there is no figure.
double operations_a_second(const DeviceFigures&, Type, bool matrix_units);

// How many blocks a multiprocessor holds at once, by each of its limits. (Checked against NVIDIA's cuda_occupancy.h.)
//
//   resident_blocks(d, f, 96, 41, 0)      // 3 warps of 41 registers a thread: 16384 / 1536 = 10 warps a partition, 40 in all
struct Resident {
  std::int64_t by_threads, by_blocks, by_shared, by_registers;
  std::int64_t least() const;
};
Resident resident_blocks(const Device&, const DeviceFigures&, std::int64_t threads, std::int64_t registers,
                         std::int64_t shared_bytes);

const DeviceFigures* figures_of(std::string_view target);  // null: the target names no device

}  // namespace ashlar::report
