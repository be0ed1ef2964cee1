// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of GPUs. Figures of CUDA devices: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
#include <ashlar/ir/refusal.h>
#include <ashlar/target/target.h>

namespace ashlar {

const std::vector<Device>& Target::devices() {
  constexpr std::int64_t most = INT32_MAX;
  using K = Device::Kind;
  static const std::vector<Device> table = {
      {"vulkan", K::vulkan, "", 1, 1024, 32 << 10, 255, 0, 0, 0, {65535, 65535, 65535}},
      {"cuda-sm_80", K::cuda, "sm_80", 32, 1024, 163 << 10, 255, 64 << 10, 164 << 10, 2048, {most, 65535, 65535}},
      {"cuda-sm_87", K::cuda, "sm_87", 32, 1024, 163 << 10, 255, 64 << 10, 164 << 10, 1536, {most, 65535, 65535}},
      {"cuda-sm_90a", K::cuda, "sm_90a", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}},
      {"cuda-sm_100a", K::cuda, "sm_100a", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}},
  };
  return table;
}

const Device& Target::device() const {
  if (!device_) throw InternalError("target " + text_ + " has no device");
  return *device_;
}

}  // namespace ashlar
