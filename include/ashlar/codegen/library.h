// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One function for several targets: the targets that can stand in one library, and in which order.
//
//   library_targets({"vulkan", "x86-64-v3", "zen4"})  ==  zen4, x86-64-v3, vulkan
//
// The runtime tells memory apart by device type, processors by their features (runtime/cpu.h), CUDA devices by their compute
// capability: it must be able to say of any machine which variant is right, so no two targets may be alike in that, and all are
// for one architecture and one system. A GPU whose name does not say what launches it is launched by what the others are for:
//
//   library_targets({"aarch64+dotprod-android", "vulkan"})  ==  aarch64+dotprod-android, vulkan-aarch64-android
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar::codegen {

// Sorted as the runtime tries them (runtime/desc.h): processors before CUDA devices before Vulkan. A processor stands before
// those whose features are among its own; of two that each have what the other lacks, the one that was given first. CUDA
// devices by falling capability. Refused (RefusalError): two that cannot be told apart; a feature that the runtime cannot
// detect in one of several processors; a target without operating system, of another architecture or another system among
// several.
std::vector<Target> library_targets(std::vector<Target>, Where = Where::current());

// What the entries of a library for these are compiled for: of their architecture and system, with no feature that one of them
// lacks.
Target common_target(const std::vector<Target>&);

int compute_capability(const Target&);  // of a target that is a CUDA device: 80, 90, 100

}  // namespace ashlar::codegen
