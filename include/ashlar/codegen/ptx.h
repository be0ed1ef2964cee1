// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From the launches of a lowered kernel to one PTX module for a CUDA device: an entry for each launch.
//
//   ptx::Code code = ptx::translate(kernel, Target::parse("cuda-sm_90a"));
//   code.text;                          // ".version 8.0 .target sm_90a …"
//   code.entries[0].name;               // "sum"; its parameters, threads, shared memory
//   ptx::cubin(code.text, "sm_90a");    // machine code, where nvJitLink is on this machine
//
// Every parameter of an entry has 8 bytes; the tensor maps, of 128 bytes each, come after them. A block's shared memory is
// given at the launch. Statements become instructions one to one (docs/codegen.md, "Code generation for CUDA").
// Invariant: the text is a function of the kernel and the target alone.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/codegen/launches.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen::ptx {

struct Entry {
  std::string name;  // unique in the module
  const ir::Launch* launch = nullptr;
  std::vector<LaunchParameter> parameters;
  std::vector<const ir::TensorMap*> maps;
  std::int64_t shared_bytes = 0;
  std::int64_t cluster[3] = {1, 1, 1};
};

struct Code {
  std::string text;
  std::string cubin;           // of the host's object: what cubin() gave; empty where it gave nothing
  std::vector<Entry> entries;  // in the order of launches_of
};

// Refused (RefusalError): what the device does not have, by name.
Code translate(const ir::Kernel&, const Target&);

// Machine code by libnvJitLink, which is opened when this is first called; ASHLAR_NVJITLINK names another library, or with an
// empty value none. Nothing where there is none. InternalError with its log where it cannot assemble the text.
std::optional<std::string> cubin(const std::string& text, std::string_view chip);
bool assembles(std::string_view chip);  // is there one that knows the chip?
// What tells one such library from another: its file, with size and time. Empty where there is none that knows the chip.
std::string linker_version(std::string_view chip);

}  // namespace ashlar::codegen::ptx
