// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Tile kernels (ir/tile.h) as NVIDIA's CUDA Tile IR: bytecode, which a driver compiles when it loads it, and machine code from
// the assembler `tileiras`, where that is installed.
//
//   std::string code = codegen::tileir::bytecode(kernel);
//   codegen::tileir::cubin(code, "sm_90");
//
// Invariant: the bytecode is a function of the kernel alone, and of the lowest version of the format that has what it uses.
#include <span>
#include <string>
#include <string_view>

#include <ashlar/ir/tile.h>

namespace ashlar::codegen::tileir {

// One module with an entry of each kernel's name. An entry's arguments are the pointers of the tensors, then the parameters.
std::string bytecode(std::span<const ir::tile::Kernel>);
inline std::string bytecode(const ir::tile::Kernel& kernel) { return bytecode({&kernel, 1}); }

// The assembler: a file that ASHLAR_TILEIRAS names, or the first `tileiras` on the PATH; empty if there is none.
std::string assembler();

// Machine code for a chip, "sm_90", by the assembler. Refused at `where`, with what it said: no assembler, one that does not
// know the format or the chip.
std::string cubin(const std::string& bytecode, std::string_view chip, Where where = Where::current());

}  // namespace ashlar::codegen::tileir
