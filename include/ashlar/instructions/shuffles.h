// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Rearrangements of small tiles in vector registers, for any processor: copies that packing is made of, for tensorize.
//
//   panels.transform_layout([](Var k, Var j) { return at(k / 4, j, k % 4); });       // four bytes that are multiplied at once
//   panels.tensorize(column, shuffles::transpose(i8, 4, 16));                        // for column in 16, for k in 4
//
// The tiles are taken by value: where they lie with constant distances, loads and stores are of runs of neighbours, and what is
// between them is shuffles.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::shuffles {

// to[i, j] = from[j, i]: from type[rows, columns], to type[columns, rows]; each from 1 to 64.
Intrinsic transpose(Type, int rows, int columns, Where = Where::current());
// to[i, j] = from[i, j]: type[rows, columns], in two layouts.
Intrinsic move(Type, int rows, int columns, Where = Where::current());

}  // namespace ashlar::shuffles
