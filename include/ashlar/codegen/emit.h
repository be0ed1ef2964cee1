// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// emit: turns a lowered kernel into an object, a static library, assembly or LLVM IR, through LLVM. For Vulkan, the object
// holds the host code, and the shaders (codegen/spirv.h) as constant data. For a CUDA device, it holds the PTX (codegen/ptx.h)
// as well, and machine code if nvJitLink is installed.
//
//   std::string object = codegen::emit(kernel, Target::parse("x86-64-v3"), codegen::Output::object);
//
// The object defines f, f_with, f_run and f_workspace_bytes, for a device also f_prepare, where f is the kernel's name as a C
// identifier, and a hidden descriptor f_abi1_desc. Without an operating system it defines only f_run and f_workspace_bytes. It
// refers only to the functions in allowed_references(). Invariant: the bytes are a function of the kernel and the target,
// without paths or times; for a CUDA device they also depend on nvJitLink. Line tables name files as they were passed to the
// generator's compiler, relative to the project.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen {

// spirv: the shaders of a kernel for vulkan alone. ptx, cubin: the device code of a kernel for a CUDA device alone.
enum class Output { object, static_library, assembly, llvm, spirv, ptx, cubin };

struct Seconds {     // CPU time of the calling thread
  double build = 0;  // to build LLVM IR from the kernel
  double llvm = 0;   // in LLVM's passes and code generator
};

struct Options {
  // Write tables that map the code, of the host (DWARF) and of a CUDA device, to lines of the algorithm and the schedule
  // (docs/codegen.md, "Lines"). They do not change the instructions.
  bool line_tables = false;
  // Use 64-bit indices in device code even where 32 bits suffice. For tests, whose tensors are all small.
  bool wide_indices = false;
  // Have the code of a processor tell the runtime when it enters and leaves a stage (docs/profiling.md). Refused: devices, and
  // targets without an operating system.
  bool profile = false;
};

// Refused (RefusalError): a kernel that needs something the target does not have. The second form makes several outputs in one
// pass.
std::string emit(const ir::Kernel&, const Target&, Output, Seconds* = nullptr, const Options& = {});
std::vector<std::string> emit(const ir::Kernel&, const Target&, std::span<const Output>, Seconds* = nullptr,
                              const Options& = {});

// One function for several targets (codegen/library.h, in its order), from kernels with the same name and interface. The object
// defines the same entries, which let the runtime choose, and the hidden symbols f__TARGET_… of each variant.
struct Variant {
  const ir::Kernel* kernel;
  Target target;
};
std::vector<std::string> emit(std::span<const Variant>, std::span<const Output>, Seconds* = nullptr, const Options& = {});

std::vector<std::string_view> allowed_references(const Target&);  // all symbols that an object may leave undefined

}  // namespace ashlar::codegen
