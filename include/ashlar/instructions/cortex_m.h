// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Cortex-M dot-product instructions, for tensorize. Both compute a tile of results,
//
//   c[i, j] += sum over k of i32(a[i, k]) * i32(b[j, k])            c i32[rows, columns], a i8[rows, k], b i8[columns, k]
//
// so each loaded element serves a whole row or column of results. c may lie in Scope::registers:
//
//   sums.compute_at(tile).store_in(Scope::registers);
//   auto [ko, k4] = sums.split(sums.reduction(), 4, Tail::exact);
//   sums.reorder(ko, i, j, k4).decompose_init(ko).tensorize(i, cortex_m::smlad(2, 2));
//
// They give exactly the bits that their descriptions give.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::cortex_m {

// Four neighbors: two smlad for each result. sxtb16 widens the bytes, with two instructions for each row of a and of b. With
// up to eight results there are enough registers for this. Needs dsp.
Intrinsic smlad(int rows, int columns, Where = Where::current());

// Helium: sixteen neighbors, one vmladava for each result.
struct Terms {
  int runs = 1, length = 16;  // `runs` runs of `length` neighbors: a i8[rows, runs, length]; k is two axes
};
// For example, Terms{2, 4} takes part of a convolution's window. There are 16 terms, or 8, which are widened to 16 bits as they
// are loaded. Needs mve.
Intrinsic vmladava(int rows, int columns, Where = Where::current());
Intrinsic vmladava(int rows, int columns, Terms, Where = Where::current());

}  // namespace ashlar::cortex_m
