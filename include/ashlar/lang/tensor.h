// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Tensor: a handle to an argument, a stage or a view. Copying shares; identity is an id, the name is for people.
//
//   A(i, j + 1)          an element, an Expr; as many indices as dimensions, of any integer type
//   x(i.with(2, k))      of any rank
#include <ashlar/lang/index.h>

namespace ashlar {

class Tensor {  // a handle
 public:
  using is_tensor = void;
  Tensor() = default;  // none; using it is refused
  template <std::size_t N>
  Tensor(const std::array<Tensor, N>&) {
    static_assert(N == 0 && N != 0,
                  "this stage has several values and gives a tensor for each: write auto [a, b] = compute(...)");
  }
  Type type(Where = Where::current()) const;             // of its elements
  int rank(Where = Where::current()) const;              // 0 to max_rank
  Shape shape(Where = Where::current()) const;           // refused where the domain follows from readers
  Expr extent(int dim, Where = Where::current()) const;  // elements along a dimension, counted from 0
  const char* name(Where = Where::current()) const;      // for people
  ir::Id id() const { return id_; }
  bool empty() const { return id_ == 0; }  // Tensor()

  // One overload a rank: a pack cannot be followed by a source_location, and each Operand brings its own.
  Expr operator()(Where = Where::current()) const;  // rank 0
  Expr operator()(Operand) const;                   // the element at an index
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
