// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Tensor: a handle to an argument, a stage or a view. Copies refer to the same object; the name is only for printing.
//
//   A(i, j + 1)          an element, an Expr: one index for each dimension, of any integer type
//   x(i.with(2, k))      with indices of any rank
#include <ashlar/lang/index.h>

namespace ashlar {

class Tensor {  // an argument, a stage or a view
 public:
  using is_tensor = void;
  Tensor() = default;  // empty: using it is refused
  template <std::size_t N>
  Tensor(const std::array<Tensor, N>&) {
    static_assert(N == 0 && N != 0,
                  "this stage has several values and gives a tensor for each: write auto [a, b] = compute(...)");
  }
  Type type(Where = Where::current()) const;             // of an element
  int rank(Where = Where::current()) const;              // 0 to max_rank
  Shape shape(Where = Where::current()) const;           // refused if the domain is inferred
  Expr extent(int dim, Where = Where::current()) const;  // the number of elements along a dimension
  const char* name(Where = Where::current()) const;      // as printed
  ir::Id id() const { return id_; }
  bool empty() const { return id_ == 0; }  // made by Tensor()

  // One overload for each rank: a source_location cannot follow a parameter pack, so each Operand carries its own.
  Expr operator()(Where = Where::current()) const;  // rank 0
  Expr operator()(Operand) const;                   // the element at these indices
  Expr operator()(Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(const Indices&, Where = Where::current()) const;  // of any rank

 protected:
  friend struct detail::Access;
  explicit Tensor(ir::Id id) : id_(id) {}
  ir::Id id_ = 0;
};

}  // namespace ashlar
