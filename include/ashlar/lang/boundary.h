// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Boundaries: views of infinite extent, expanded where they are read. They cost nothing of their own and have no stage.
//
//   Tensor wide = boundary::repeat(in);        wide(y - 1, x) reads in(0, x) at y = 0
//
//            index  -2  -1 | 0  1  2 | 3  4        of a row of three
//   repeat            0   0 | 0  1  2 | 2  2
//   mirror            1   0 | 0  1  2 | 2  1        the edge is repeated
//   reflect           2   1 | 0  1  2 | 1  0        it is not
//   wrap              1   2 | 0  1  2 | 0  1
//   constant(v)       v   v | 0  1  2 | v  v        the tensor is not read outside
//
// With `dims` only those dimensions are extended. The extents must be known: an argument, or a stage whose domain was given.
#include <initializer_list>

#include <ashlar/lang/tensor.h>

namespace ashlar::boundary {

Tensor repeat(const Tensor&, Where = Where::current());   // the edge
Tensor mirror(const Tensor&, Where = Where::current());   // the edge is repeated
Tensor reflect(const Tensor&, Where = Where::current());  // the edge is not repeated
Tensor wrap(const Tensor&, Where = Where::current());     // the other end
Tensor constant(const Tensor&, Operand value);            // the value; the tensor is not read outside
Tensor repeat(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor mirror(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor reflect(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor wrap(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor constant(const Tensor&, Operand value, std::initializer_list<int> dims);

}  // namespace ashlar::boundary
