// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Lowering to the tile form: from a program that is scheduled as far as blocks, whose loops inside of a block are serial or
// dimensions of tiles (as_tile), to one tile kernel for each nest at the root. docs/tiles.md says what is a tile program.
//
//   std::vector<TileLaunch> launches = lower_to_tiles(program);
//   launches[0].kernel;               // what every block runs
//   launches[0].grid;                 // {(M + 127) / 128, (N + 255) / 256, 1}
//
// What cannot be a tile is refused at the line of the schedule step, or of the formula, with the reason.
#include <array>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/tile.h>

namespace ashlar {

// What the caller passes for a parameter of the kernel: an expression over symbols, a scalar of the program, or the stride of
// an argument.
struct TileActual {
  Expr value;         // of a stride: empty
  ir::Id buffer = 0;  // of a stride: whose
  int dim = 0;
};

// What must hold of a call, besides the facts of its symbols: it is checked before the launch.
struct TileCondition {
  ir::Id buffer = 0;
  int dim = -1;              // of a stride, or -1: of the address of the first element
  std::int64_t divisor = 1;  // in elements; of an address in bytes
};

struct TileLaunch {
  ir::tile::Kernel kernel;
  std::array<Expr, 3> grid;            // in blocks, over symbols
  std::vector<ir::Id> tensors;         // the arguments and temporaries that the kernel's tensors are
  std::vector<TileActual> parameters;  // one for each parameter of the kernel
  std::vector<TileCondition> conditions;
  Where where = {};
};

// A stage that is computed at the root and is no argument: it lies in memory between launches, dense and row-major, and its
// buffer stands among the tensors of those that store and read it.
struct TileTemporary {
  ir::Id buffer = 0;
  std::vector<Expr> begin, extents;  // its box, over symbols
};
std::vector<TileTemporary> tile_temporaries(const ir::Program&);

struct TileOptions {
  // Arguments begin at multiples of 16 bytes, and so do their rows, which each call is checked for: the copies of tiles by a
  // unit of their own (TMA) need it. Without it there is no condition.
  bool aligned = true;
  // How many warps compute: 4 or 8; 0: 8 where the sums that a loop carries are more than 4 hold in registers, else the
  // assembler's choice.
  int worker_warps = 0;
};

// The regions of the program must have been derived (analysis::derive_regions).
std::vector<TileLaunch> lower_to_tiles(const ir::Program&, const TileOptions& = {});

// The same with the host's part: a kernel whose launches are of tiles, with temporaries in the workspace. With
// TileOptions::aligned it has two forms of each launch where calls may break the conditions: NAME, which takes them for
// granted, and NAME_any; each call takes one by addresses, strides and the lengths of rows.
ir::Kernel lower_tiles(const ir::Program&, const TileOptions& = {});

}  // namespace ashlar
