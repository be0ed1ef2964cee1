// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One function for several targets: which targets can share a library, and in which order.
//
//   library_targets({"vulkan", "x86-64-v3", "zen4"})  ==  zen4, x86-64-v3, vulkan
//
// The runtime distinguishes memory by device type, processors by their features (runtime/cpu.h), and CUDA devices by their
// compute capability. It must be able to choose a variant on any machine, so no two targets may be the same in these respects,
// and all are for one architecture and one system. A GPU whose name does not include a host processor takes that of the others:
//
//   library_targets({"aarch64+dotprod-android", "vulkan"})  ==  aarch64+dotprod-android, vulkan-aarch64-android
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar::codegen {

// Sorts targets in the order in which the runtime tries them (runtime/desc.h): processors before CUDA devices before Vulkan. A
// processor comes before those whose features are a subset of its own; if neither set contains the other, the one given first
// comes first. CUDA devices are in descending order of capability. Refused (RefusalError): two targets that the runtime cannot
// distinguish; a feature that it cannot detect, in one of several processors; among several targets, one without an operating
// system, or of another architecture or system.
std::vector<Target> library_targets(std::vector<Target>, Where = Where::current());

// The target for the entries of a library: of the same architecture and system, without any feature that one of the targets
// lacks.
Target common_target(const std::vector<Target>&);

int compute_capability(const Target&);  // of a CUDA device: 80, 90, 100

}  // namespace ashlar::codegen
