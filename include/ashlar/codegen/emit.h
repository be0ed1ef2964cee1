// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From a lowered kernel to bytes: object, static library, assembly or LLVM IR for a processor of the table, through LLVM. The
// object of a kernel for vulkan holds the host's code and the shaders (codegen/spirv.h) as constant data, that of a kernel for
// a CUDA device the PTX (codegen/ptx.h), and the machine code where nvJitLink is on this machine.
//
//   std::string object = codegen::emit(kernel, Target::parse("x86-64-v3"), codegen::Output::object);
//
// The object defines f, f_with, f_run and f_workspace_bytes (f is the kernel's name as a C identifier; with no operating system
// only the last two) and a hidden descriptor f_abi1_desc; it refers to nothing but the functions of allowed_references().
// Invariant: the bytes are a function of the kernel and the target alone: no paths, no times; line tables name files as the
// generator's compiler was told to, relative to a project. (And for a CUDA device of the
// nvJitLink that is here, or is not.)
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen {

// spirv: of a kernel for vulkan, its shaders as they are. ptx, cubin: the same of a kernel for a CUDA device.
enum class Output { object, static_library, assembly, llvm, spirv, ptx, cubin };

struct Seconds {     // of CPU time, of the calling thread
  double build = 0;  // making LLVM IR out of the kernel
  double llvm = 0;   // LLVM's passes and its code generator
};

struct Options {
  // DWARF tables that map the host's code to the lines of the algorithm and the schedule (docs/codegen.md, "Lines"). The
  // instructions are the same.
  bool line_tables = false;
};

// Refused (RefusalError) when the target cannot compute what the kernel asks for.
std::string emit(const ir::Kernel&, const Target&, Output, Seconds* = nullptr, const Options& = {});
std::vector<std::string> emit(const ir::Kernel&, const Target&, std::span<const Output>, Seconds* = nullptr,
                              const Options& = {});  // one pass for all

// One function for several targets (codegen/library.h, in its order): kernels of one name and one interface. The object defines
// the same four entries, which have the runtime choose; with each of them come its hidden symbols f__TARGET_….
struct Variant {
  const ir::Kernel* kernel;
  Target target;
};
std::vector<std::string> emit(std::span<const Variant>, std::span<const Output>, Seconds* = nullptr, const Options& = {});

std::vector<std::string_view> allowed_references(const Target&);  // the closed list of what an object may leave undefined
std::string llvm_version();                                       // "22.1.0"

}  // namespace ashlar::codegen
