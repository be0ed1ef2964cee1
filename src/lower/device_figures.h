#pragma once
// What explain() compares a launch with: devices that a target stands for, and how a multiprocessor divides its memories.
#include <cstdint>
#include <string_view>

namespace ashlar::lower_impl {

struct DeviceFigures {
  const char* target;  // "cuda-sm_80"
  const char* model;
  int multiprocessors;
  int blocks;                    // resident, of one multiprocessor
  std::int64_t register_unit;    // registers are given to warps in multiples of this
  std::int64_t shared_unit;      // shared memory to blocks
  std::int64_t shared_reserved;  // of each block, by the system
  double bandwidth;              // bytes a second of global memory
  double f32_operations;         // a second, an fma counting as two; without matrix units
};

const DeviceFigures* figures_of(std::string_view target);  // null: the target names no device

}  // namespace ashlar::lower_impl
