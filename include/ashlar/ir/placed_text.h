// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The text of programs, kernels (ir/print.h) and tile kernels (ir/tile.h) line by line, each with the place in the user's
// sources that it stands for. Joined, the lines are what text() returns.
//
//   for (const ir::PlacedLine& l : ir::placed_text(program)) ...     "    for io in (M + 63) / 64     parallel", matmul.cpp:31
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>

namespace ashlar::ir {

struct PlacedLine {
  std::string text;  // without the end of the line
  Where where = {};  // line 0: no place
  Id of = 0;         // of a program: the statement, stage, symbol or argument; 0: none
};

std::vector<PlacedLine> placed_text(const Program&);
std::vector<PlacedLine> placed_text(const Kernel&);
std::vector<PlacedLine> placed_text(const tile::Kernel&);

// Gives each statement of a kernel the place lines[n], where n is its line in the text, counted from 0. Statements on lines
// past the end of `lines` keep their places. Back ends that write tables of lines then refer to the text of the kernel.
void place_at_lines(Kernel&, std::span<const Where> lines);

}  // namespace ashlar::ir
