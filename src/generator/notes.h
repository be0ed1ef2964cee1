// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the tool says on stderr of files that it has written: what will be slow, and what was chosen where nothing was asked
// for.
#include <span>
#include <string>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/target/target.h>

namespace ashlar::generator {

// Products that are summed with one rounding, and math functions whose polynomials are, on processors without an instruction
// for that: it is computed from others, to the same bits, tens of times slower. One line for the kernels of a library, each for
// the target of the same number; empty where any of these processors has the instruction, because its variant comes first, and
// where none of the kernels needs it.
std::string fma_note(const std::string& function, std::span<const ir::Kernel>, std::span<const Target>);

// Sums of 8- and 16-bit integers in their own type, which wrap after a few terms: a line each, at the line of the definition.
std::string narrow_sum_note(const ir::Program& algorithm);

std::string default_schedule_note(const std::string& generator);

}  // namespace ashlar::generator
