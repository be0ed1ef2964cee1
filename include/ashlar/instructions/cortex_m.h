// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions of Cortex-M that multiply and add several neighbours at once, for tensorize. Both compute a tile of results,
//
//   c[i, j] += sum over k of i32(a[i, k]) * i32(b[j, k])            c i32[rows, columns], a i8[rows, k], b i8[columns, k]
//
// so that what is loaded for one result serves a row or a column of them; c may lie in Scope::registers:
//
//   sums.compute_at(tile).store_in(Scope::registers);
//   auto [ko, k4] = sums.split(sums.reduction(), 4, Tail::exact);
//   sums.reorder(ko, i, j, k4).decompose_init(ko).tensorize(i, cortex_m::smlad(2, 2));
//
// What they compute is what their descriptions say, to the bit.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::cortex_m {

// Four neighbours: two smlad for each result, of bytes that sxtb16 widens, which takes two instructions for each row of a and
// of b. Eight results or fewer leave registers for them. Needs dsp.
Intrinsic smlad(int rows, int columns, Where = Where::current());

// Helium: sixteen neighbours, one vmladava for each result.
struct Terms {
  int runs = 1, length = 16;  // `runs` rows of `length` neighbours each: a i8[rows, runs, length], and k two axes
};
// Of Terms{2, 4}, say, which are a part of a convolution's window. 16 neighbours, or 8: then widened to 16 bits as they are
// loaded. Needs mve.
Intrinsic vmladava(int rows, int columns, Where = Where::current());
Intrinsic vmladava(int rows, int columns, Terms, Where = Where::current());

}  // namespace ashlar::cortex_m
