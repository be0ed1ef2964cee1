// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The generated header: what a caller of a kernel includes. It stands alone (C99 or C++11, no other header of ashlar), and any
// number of generated headers go into one translation unit.
//
// Invariant: a function of its arguments alone, so the same kernel gives the same bytes in every folder. The order of fields
// and their names come from codegen/abi_layout.h, as the object's do; the ABI block is runtime/abi.h, word for word.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::generator {

struct HeaderFacts {
  std::string generator;                                    // its registered name
  std::vector<std::pair<std::string, std::string>> params;  // every Param with its value, NAME@TARGET where targets differ
  std::vector<std::string> targets;
  int processors = 0;                                     // of the targets
  bool hosted = true;                                     // an operating system: the entries on tensors exist
  bool host_memory = true, vulkan = false, cuda = false;  // where tensors may lie
};

// Of the kernels for all targets, which have one interface; what the workspace takes is the most of any.
std::string header_text(std::span<const ir::Kernel>, const HeaderFacts&);
// What a caller sees of a kernel, whatever its target: arguments with shapes and layouts, entries, f_args, packing functions.
std::string interface_text(const ir::Kernel&);

}  // namespace ashlar::generator
