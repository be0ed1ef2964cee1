// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Translates tile kernels (ir/tile.h) to NVIDIA's CUDA Tile IR: bytecode, which a driver compiles when it loads it, and machine
// code from the assembler `tileiras` if that is installed.
//
//   std::string code = codegen::tileir::bytecode(kernel);
//   codegen::tileir::cubin(code, "sm_90");
//
// Invariant: the bytecode is a function of the kernel alone, in the lowest version of the format that has everything it uses.
#include <span>
#include <string>
#include <string_view>

#include <ashlar/ir/tile.h>

namespace ashlar::codegen::tileir {

// One module with an entry for each kernel, under its name. The arguments of an entry are the pointers of the tensors, then the
// parameters.
std::string bytecode(std::span<const ir::tile::Kernel>);
inline std::string bytecode(const ir::tile::Kernel& kernel) { return bytecode({&kernel, 1}); }

// The path of the assembler: that in ASHLAR_TILEIRAS, or the first `tileiras` on the PATH; empty if there is none.
std::string assembler();

// Machine code for a chip ("sm_90") from the assembler. Refused at `where`, with the assembler's message: no assembler, or one
// that does not support the format or the chip.
std::string cubin(const std::string& bytecode, std::string_view chip, Where where = Where::current());

}  // namespace ashlar::codegen::tileir
