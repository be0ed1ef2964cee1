// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Boundaries: views that extend a tensor infinitely. They are expanded where they are read, and are not stages.
//
//   Tensor wide = boundary::repeat(in);        wide(-1, x) is in(0, x)
//
//            index  -2  -1 | 0  1  2 | 3  4        for a row of three
//   repeat            0   0 | 0  1  2 | 2  2
//   mirror            1   0 | 0  1  2 | 2  1        the edge is repeated
//   reflect           2   1 | 0  1  2 | 1  0        the edge is not repeated
//   wrap              1   2 | 0  1  2 | 0  1
//   constant(v)       v   v | 0  1  2 | v  v        the tensor is not read outside its extents
//
// `dims` names the dimensions to extend; the default is all. Their extents must be known: the tensor must be an argument, or a
// stage with a declared domain.
#include <initializer_list>

#include <ashlar/lang/tensor.h>

namespace ashlar::boundary {

Tensor repeat(const Tensor&, Where = Where::current());   // the nearest element of the edge
Tensor mirror(const Tensor&, Where = Where::current());   // reflects, and repeats the edge
Tensor reflect(const Tensor&, Where = Where::current());  // reflects, without repeating the edge
Tensor wrap(const Tensor&, Where = Where::current());     // continues at the other end
Tensor constant(const Tensor&, Operand value);            // `value` outside the tensor
Tensor repeat(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor mirror(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor reflect(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor wrap(const Tensor&, std::initializer_list<int> dims, Where = Where::current());
Tensor constant(const Tensor&, Operand value, std::initializer_list<int> dims);

}  // namespace ashlar::boundary
