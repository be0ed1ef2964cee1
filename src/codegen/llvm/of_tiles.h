// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Launches of tiles in an object: their bytecode and machine code, and what the host checks of a call before it launches.
#include <string>

#include <ashlar/codegen/ptx.h>

namespace llvm {
class Value;
}

namespace ashlar::codegen {

class Emitter;

// One module with the kernels of all launches, in the place of PTX; and machine code where the target names a chip and the
// assembler is there (tileir::assembler).
ptx::Code tile_code(const ir::Kernel&, const Target&);
std::string tile_bytecode(const ir::Kernel&);
std::string tile_assembler_version();  // identifies the assembler: its file, with size and modification time; empty: none

// Returns from the body where an extent, a stride or another index that a launch is passed does not fit.
void check_tile_numbers(Emitter&, llvm::Value* context);

}  // namespace ashlar::codegen
