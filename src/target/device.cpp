// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of GPUs. Figures of CUDA devices: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
// Multiprocessors, of the product named: sm_80 A100 (NVIDIA A100 Tensor Core GPU Architecture), sm_86 A40 and RTX A6000, the
// whole GA102 (NVIDIA Ampere GA102 GPU Architecture), sm_87 Jetson AGX Orin 64 GB (Jetson AGX Orin Series Technical Brief),
// sm_90 H100 SXM5 (NVIDIA H100 Tensor Core GPU Architecture), sm_100 B200 (CUDA's Blackwell Tuning Guide); by specifications
// that others publish, sm_89 GeForce RTX 4090 and sm_120 GeForce RTX 5090. sm_103 is unknown: NVIDIA tells of 160 in Blackwell
// Ultra, not how many of them a product has.
#include <algorithm>
#include <iterator>

#include <ashlar/ir/refusal.h>
#include <ashlar/target/target.h>

#include "target/table.h"

namespace ashlar {

const std::vector<Device>& Target::devices() {
  constexpr std::int64_t most = INT32_MAX;
  using K = Device::Kind;
  static const std::vector<Device> table = {
      {"vulkan", K::vulkan, "", 1, 1024, 32 << 10, 255, 0, 0, 0, {65535, 65535, 65535}, 0},
      {"vulkan-128", K::vulkan, "", 1, 128, 16 << 10, 255, 0, 0, 0, {65535, 65535, 65535}, 0},
      {"vulkan-256", K::vulkan, "", 1, 256, 32 << 10, 255, 0, 0, 0, {65535, 65535, 65535}, 0},
      {"vulkan-1024", K::vulkan, "", 1, 1024, 48 << 10, 255, 0, 0, 0, {65535, 65535, 65535}, 0},
      {"cuda-sm_80", K::cuda, "sm_80", 32, 1024, 163 << 10, 255, 64 << 10, 164 << 10, 2048, {most, 65535, 65535}, 108},
      {"cuda-sm_86", K::cuda, "sm_86", 32, 1024, 99 << 10, 255, 64 << 10, 100 << 10, 1536, {most, 65535, 65535}, 84},
      {"cuda-sm_87", K::cuda, "sm_87", 32, 1024, 163 << 10, 255, 64 << 10, 164 << 10, 1536, {most, 65535, 65535}, 16},
      {"cuda-sm_89", K::cuda, "sm_89", 32, 1024, 99 << 10, 255, 64 << 10, 100 << 10, 1536, {most, 65535, 65535}, 128},
      {"cuda-sm_90", K::cuda, "sm_90", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 132},
      {"cuda-sm_90a", K::cuda, "sm_90a", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 132},
      {"cuda-sm_100", K::cuda, "sm_100", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 148},
      {"cuda-sm_100f", K::cuda, "sm_100f", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 148},
      {"cuda-sm_100a", K::cuda, "sm_100a", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 148},
      {"cuda-sm_103", K::cuda, "sm_103", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 0},
      {"cuda-sm_103a", K::cuda, "sm_103a", 32, 1024, 227 << 10, 255, 64 << 10, 228 << 10, 2048, {most, 65535, 65535}, 0},
      {"cuda-sm_120", K::cuda, "sm_120", 32, 1024, 99 << 10, 255, 64 << 10, 100 << 10, 1536, {most, 65535, 65535}, 170},
      {"cuda-sm_120f", K::cuda, "sm_120f", 32, 1024, 99 << 10, 255, 64 << 10, 100 << 10, 1536, {most, 65535, 65535}, 170},
      {"cuda-tile", K::tile, "", 1, 1, 0, 255, 0, 0, 0, {most, 65535, 65535}, 0},
      {"cuda-tile-sm_80", K::tile, "sm_80", 1, 1, 0, 255, 0, 0, 0, {most, 65535, 65535}, 108},
      {"cuda-tile-sm_90", K::tile, "sm_90", 1, 1, 0, 255, 0, 0, 0, {most, 65535, 65535}, 132},
      {"cuda-tile-sm_100", K::tile, "sm_100", 1, 1, 0, 255, 0, 0, 0, {most, 65535, 65535}, 148},
      {"cuda-tile-sm_120", K::tile, "sm_120", 1, 1, 0, 255, 0, 0, 0, {most, 65535, 65535}, 170},
  };
  return table;
}

namespace targets {

namespace {
constexpr const char* kVulkanFeatures[] = {
    "float16",  // arithmetic on f16 that keeps subnormal numbers and rounds to nearest even
    "dot8",     // dot products of four bytes
};
constexpr int kSubgroups[] = {4, 8, 16, 32, 64};
constexpr std::string_view kSubgroup = "subgroup";
}  // namespace

int subgroup_of(std::string_view feature) {
  for (const int lanes : kSubgroups)
    if (feature == std::string(kSubgroup) + std::to_string(lanes)) return lanes;
  return 0;
}

bool is_vulkan_feature(std::string_view name) {
  return subgroup_of(name) > 0 ||
         std::find(std::begin(kVulkanFeatures), std::end(kVulkanFeatures), name) != std::end(kVulkanFeatures);
}

const Device* with_subgroups(const Device& d, int lanes) {
  static const std::vector<Device> table = [] {
    std::vector<Device> all;
    for (const Device& each : Target::devices())
      for (const int n : kSubgroups)
        if (each.kind == Device::Kind::vulkan) all.push_back(each), all.back().warp = n;
    return all;
  }();
  for (const Device& each : table)
    if (std::string_view(each.name) == d.name && each.warp == lanes) return &each;
  throw InternalError("target: no device with subgroups of " + std::to_string(lanes));
}

}  // namespace targets

std::vector<std::string> Target::vulkan_features() {
  std::vector<std::string> all(std::begin(targets::kVulkanFeatures), std::end(targets::kVulkanFeatures));
  for (const int lanes : targets::kSubgroups) all.push_back(std::string(targets::kSubgroup) + std::to_string(lanes));
  return all;
}

const Device& Target::device() const {
  if (!device_) throw InternalError("target " + text_ + " has no device");
  return *device_;
}

}  // namespace ashlar
