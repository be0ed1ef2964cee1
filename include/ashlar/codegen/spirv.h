// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Translates the launches of a lowered kernel to one SPIR-V module for Vulkan, with an entry point for each launch.
//
//   spirv::Code code = spirv::translate(kernel);
//   code.entries[0].name;                  // "sum"; its parameters, threads, shared memory
//   spirv::disassemble(code.words);        // text
//
// A shader accesses memory through 64-bit device addresses in its push constants (docs/codegen.md, "Code generation for
// Vulkan"), so the module has no descriptors. Parameters that do not fit the push constants lie in a block of memory whose
// address is passed instead. Invariant: the words are a function of the kernel and the options alone, and were validated before
// and after optimization.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/codegen/launches.h>

namespace ashlar::codegen::spirv {

struct Options {
  bool native_fma = true;    // the device rounds Fma once. Otherwise Fma of f32 is computed in f64, and that of f64 in integers
  bool optimize = true;      // through SPIRV-Tools
  bool float16 = false;      // the device computes with f16, keeps its subnormal numbers and rounds to nearest even
  bool line_tables = false;  // OpLine names the user's lines
  bool index32 = false;      // index is 32 bits wide; correct for calls that satisfy indices_of_32_bits
};

using Parameter = LaunchParameter;  // of a shader, in this order

struct Entry {
  std::string name;  // unique in the module
  ir::Launch launch;
  std::vector<Parameter> parameters;
  std::int64_t parameter_bytes = 0;
  bool parameters_in_memory = false;
  std::int64_t shared_bytes = 0;  // of Workgroup memory, as declared
  bool uses_subgroups = false;    // the launch is only correct if a subgroup has launch.warp lanes
  bool folded = false;            // the push constants tell where the blocks of a dispatch begin along y and z, too
};

// A module. `features` is what a device must support, as the bits of runtime/vulkan.h.
struct Code {
  std::vector<std::uint32_t> words;
  std::vector<Entry> entries;  // in the order of launches_of
  std::uint32_t features = 0;
};

// The condition, over symbols and strides, under which a module with 32-bit indices computes the same: `true` if for every
// call, `false` if for none. Such a module needs 64-bit integers only for data.
Expr indices_of_32_bits(const ir::Kernel&);

// Refused (RefusalError): anything that SPIR-V cannot express, by name.
Code translate(const ir::Kernel&, const Options& = {});

std::string disassemble(std::span<const std::uint32_t> words);
// Empty if the module is valid for Vulkan 1.2, otherwise the message of SPIRV-Tools.
std::string invalid(std::span<const std::uint32_t> words);

}  // namespace ashlar::codegen::spirv
