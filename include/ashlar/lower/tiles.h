// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Lowering to the tile form: from a program whose loops are bound to blocks, and inside a block are serial or dimensions of
// tiles (as_tile), to one tile kernel for each nest at the root. docs/tiles.md says which programs are tile programs.
//
//   std::vector<TileLaunch> launches = lower_to_tiles(program);
//   launches[0].kernel;               // run by every block
//   launches[0].grid;                 // {(M + 127) / 128, (N + 255) / 256, 1}
//
// Anything that cannot be expressed with tiles is refused with the reason, at the line of the schedule step or of the formula.
#include <array>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/tile.h>

namespace ashlar {

// The value that the caller passes for a parameter of the kernel: an expression over symbols, a scalar of the program, or the
// stride of an argument.
struct TileActual {
  Expr value;         // empty for a stride
  ir::Id buffer = 0;  // for a stride: the argument
  int dim = 0;
};

// A condition on calls beyond the facts of symbols. It is checked before the launch.
struct TileCondition {
  ir::Id buffer = 0;
  int dim = -1;              // the dimension of a stride, or -1 for the address of the first element
  std::int64_t divisor = 1;  // in elements; for an address, in bytes
  Expr least = {};           // the stride is at least this; empty: anything
};

struct TileLaunch {
  ir::tile::Kernel kernel;
  std::array<Expr, 3> grid;            // in blocks, over symbols
  std::vector<ir::Id> tensors;         // the arguments and temporaries that the kernel's tensors are
  std::vector<TileActual> parameters;  // one for each parameter of the kernel
  std::vector<TileCondition> conditions;
  bool ragged = false;  // it multiplies tensors whose rows are not known to end at multiples of 16 bytes, but to begin there
  Where where = {};
};

// A stage that is computed at the root and is not an argument: it lies in memory between launches, dense and row-major, and its
// buffer is among the tensors of the launches that store and read it.
struct TileTemporary {
  ir::Id buffer = 0;
  std::vector<Expr> begin, extents;  // its box, over symbols
};
std::vector<TileTemporary> tile_temporaries(const ir::Program&);

struct TileOptions {
  // Require that arguments and their rows begin at multiples of 16 bytes, which each call is checked for. The hardware unit
  // that copies tiles (TMA) needs this. If off, there is no such condition.
  bool aligned = true;
  // The chip, such as "sm_80": element types that it lacks are refused. Empty: any chip.
  std::string chip = {};
};

// The regions of the program must have been derived (analysis::derive_regions).
std::vector<TileLaunch> lower_to_tiles(const ir::Program&, const TileOptions& = {});

// The same with the host's part: a kernel whose launches are of tiles, with temporaries in the workspace. With
// TileOptions::aligned it has two forms of each launch where calls may break the conditions: NAME, which takes them for
// granted, and NAME_any; each call takes one by addresses, strides and the lengths of rows. Products have a third,
// NAME_ragged, for rows that begin at multiples of 16 bytes but end anywhere.
ir::Kernel lower_tiles(const ir::Program&, const TileOptions& = {});

}  // namespace ashlar
