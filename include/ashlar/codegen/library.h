#pragma once
// One function for several targets: the targets that can stand in one library, and in which order.
//
//   library_targets({"vulkan", "x86-64-v3", "x86-64-v4"})  ==  x86-64-v4, x86-64-v3, vulkan
//
// The runtime tells memory apart by device type, processors by their level of x86-64, CUDA devices by their compute capability:
// it must be able to say of any machine which variant is right, so no two targets may be alike in that. Where several are for
// processors, each is a level, with no feature beyond x86-64-v4, which the runtime could not check.
#include <vector>

#include <ashlar/schedule/target.h>

namespace ashlar::codegen {

// Sorted as the runtime tries them (runtime/desc.h): the same list in whatever order they are given. Refused (RefusalError):
// two that cannot be told apart, a target without operating system among several.
std::vector<Target> library_targets(std::vector<Target>, Where = Where::current());

// 1 .. 4: the smallest level of x86-64 that has every enabled feature; 4 too where none has them all. Of a GPU: of its host.
// 0 of other processors: not checked.
int x86_level(const Target&);
int compute_capability(const Target&);  // of a target that is a CUDA device: 80, 90, 100

}  // namespace ashlar::codegen
