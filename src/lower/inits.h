// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Inits made explicit. In a scheduled program the block of a reduction is one piece, `whole`: it starts its accumulators and
// updates them. This rewrites it into what is executed:
//
//   nest C                              nest C
//     for i                               for i
//       for ko            (reduction)       for j            the spatial loops found below ko, copied
//         for j                               init C
//           for ki        (reduction)       for ko
//             block C                         for j
//                                               for ki
//                                                 update C
//
// The init stands just outside the outermost reduction loop; where that loop was peeled, before the first of its parts only.
// A block whose first step stores needs no init but where the reduction is empty: its init carries that condition in `when`,
// and is left out where the facts prove the reduction has a step.
//
// Invariant: the result has no reduction block of piece `whole`; every point is initialized before its first update, and
// inits of different pieces of one stage cover the pieces' own points.
#include "lower/nodes.h"

namespace ashlar::lowering {

// Regions must have been derived. Ids of the new loops and blocks are fresh; copy_of names the loop or block they came from.
ir::Program materialize_inits(const ir::Program&);

}  // namespace ashlar::lowering
