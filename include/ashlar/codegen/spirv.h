// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From the launches of a lowered kernel to one SPIR-V module for Vulkan: an entry point for each launch.
//
//   spirv::Code code = spirv::translate(kernel);
//   code.entries[0].name;                  // "sum"; its parameters, threads, shared memory
//   spirv::disassemble(code.words);        // text
//
// A shader reaches memory through 64-bit device addresses among its push constants (docs/codegen.md, "Code generation for
// Vulkan"), so the module has no descriptors. Parameters that do not fit the push constants lie in a block of memory whose
// address does. Invariant: the words are a function of the kernel and the options alone; they were validated before and after
// optimisation.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/codegen/launches.h>

namespace ashlar::codegen::spirv {

struct Options {
  bool native_fma = true;  // the device rounds Fma once. Otherwise that of f32 is computed in f64, that of f64 in integers
  bool optimise = true;    // through SPIRV-Tools
  bool float16 = false;    // the device computes with f16, keeps its subnormal numbers and rounds to nearest even
  bool index32 = false;    // index is 32 bits wide: where indices_of_32_bits holds for the call
};

using Parameter = LaunchParameter;  // of a shader, in this order

struct Entry {
  std::string name;  // unique in the module
  ir::Launch launch;
  std::vector<Parameter> parameters;
  std::int64_t parameter_bytes = 0;
  bool parameters_in_memory = false;
  std::int64_t shared_bytes = 0;  // of Workgroup memory, as declared
  bool uses_subgroups = false;    // the launch is right only where a subgroup has launch.warp lanes
  bool folded = false;            // the push constants tell where the blocks of a dispatch begin along y and z, too
};

// What a device must be able to do. The bits are those of the runtime's
// descriptor (runtime/vulkan.h).
struct Code {
  std::vector<std::uint32_t> words;
  std::vector<Entry> entries;  // in the order of launches_of
  std::uint32_t features = 0;
};

// Under which condition a module with indices of 32 bits computes the same, over symbols and strides: true for every call,
// false for none. Such a module needs integers of 64 bits for data alone.
Expr indices_of_32_bits(const ir::Kernel&);

// Refused (RefusalError): what SPIR-V cannot say, by name.
Code translate(const ir::Kernel&, const Options& = {});

std::string disassemble(std::span<const std::uint32_t> words);
// Empty if the module is valid for Vulkan 1.2, else what SPIRV-Tools says.
std::string invalid(std::span<const std::uint32_t> words);

}  // namespace ashlar::codegen::spirv
