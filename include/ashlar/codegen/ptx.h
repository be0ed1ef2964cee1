// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Translates the launches of a lowered kernel to one PTX module for a CUDA device, with one entry for each launch.
//
//   ptx::Code code = ptx::translate(kernel, Target::parse("cuda-sm_90a"));
//   code.text;                          // ".version 8.0 .target sm_90a …"
//   code.entries[0].name;               // "sum"; its parameters, threads, shared memory
//   ptx::cubin(code.text, "sm_90a");    // machine code, if nvJitLink is installed
//
// Each parameter of an entry has 8 bytes; tensor maps, of 128 bytes each, come after the parameters, and behind them, where a
// grid may exceed 65535 blocks along y or z, where the blocks of a launch begin. Each launch states the shared memory of a
// block. Statements become instructions one to one (docs/codegen.md, "Code generation for CUDA"). Invariant: the text is a
// function of the kernel and the target alone.
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
  ir::Launch launch;
  std::vector<LaunchParameter> parameters;  // of tiles: the tensors; KLaunch::parameters follow
  std::size_t numbers = 0;                  // of tiles: how many
  std::vector<ir::TensorMap> maps;
  std::int64_t shared_bytes = 0;
  std::int64_t cluster[3] = {1, 1, 1};
  bool folded = false;  // a last parameter, after the maps, tells where the blocks of a launch begin along y and z
};

struct Code {
  std::string text;
  std::string cubin;           // in the host's object: the result of cubin(), or empty
  bool lines = false;          // the text has line tables
  bool tiles = false;          // of a target with tiles: the text is bytecode of CUDA Tile IR
  std::vector<Entry> entries;  // in the order of launches_of
  // Where indices of 32 bits are right for some calls alone, the text has them, and `wide` is the same with indices of 64 bits,
  // for the calls for which `narrow_if` does not hold: over symbols and strides. Else both are empty.
  std::string wide;
  Expr narrow_if;
};

// Refused (RefusalError): what the device does not have, by name.
// With `lines` the text says which line of the user's an instruction stands for (.loc); instructions are the same. With `wide`
// there is the form with indices of 64 bits alone.
Code translate(const ir::Kernel&, const Target&, bool lines = false, bool wide = false);

// Machine code from libnvJitLink, which the first call opens; with the line tables of the text if `lines`. ASHLAR_NVJITLINK
// names another library; if it is empty, none is used. Returns nothing without a library. InternalError, with the library's
// log, if it cannot assemble the text.
std::optional<std::string> cubin(const std::string& text, std::string_view chip, bool lines = false);
bool assembles(std::string_view chip);  // whether a library is installed that supports the chip
// Identifies the library: its file, with size and modification time. Empty if no library supports the chip.
std::string linker_version(std::string_view chip);

}  // namespace ashlar::codegen::ptx
