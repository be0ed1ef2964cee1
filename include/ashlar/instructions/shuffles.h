// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Rearrangements of small tiles in vector registers, on any processor, for tensorize: the copies that make up packing.
//
//   panels.transform_layout([](Var k, Var j) { return at(k / 4, j, k % 4); });       // four bytes that are multiplied together
//   panels.tensorize(column, shuffles::transpose(i8, 4, 16));                        // for column in 16, for k in 4
//
// Tiles are passed by value. If their elements lie at constant distances, loads and stores move runs of neighbors, and
// shuffles rearrange them.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::shuffles {

// to[i, j] = from[j, i]: from type[rows, columns], to type[columns, rows]; rows and columns are 1 to 64.
Intrinsic transpose(Type, int rows, int columns, Where = Where::current());
// to[i, j] = from[i, j]: type[rows, columns], from one layout to another.
Intrinsic move(Type, int rows, int columns, Where = Where::current());

}  // namespace ashlar::shuffles
