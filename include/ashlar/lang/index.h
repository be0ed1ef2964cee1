// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Index variables and extents. All are Exprs of type index, a mathematical integer. They are compared by identity; names are
// only for printing.
//
//   Symbol N{"N", {.min = 1}};          an extent that each call supplies, with facts that proofs use and each call checks
//   Axis k{"k", N}, d{"d", -2, 3};      reduction axes: [0, N) and [-2, 3). All ranges are half-open
//   sum(A(i, k), k.where(k <= i))       only the terms for which the condition holds
//
// A Var is an index of the tensor being defined. Only the functions that define tensors create Vars.
#include <initializer_list>
#include <utility>
#include <vector>

#include <ashlar/lang/expr.h>

namespace ashlar {

inline constexpr int max_rank = 8;  // the maximum number of dimensions

namespace detail {
struct Access;
}

class Var : public Expr {  // an index of the tensor being defined
 public:
  Var(const Var&) = default;
  template <class T = void>
  explicit Var(const char* = nullptr) {
    static_assert(
        detail::never<T>,
        "a Var is a parameter of the lambda that defines a tensor: compute(\"C\", {M, N}, [&](Var i, Var j) { return ...; })");
  }
  Var& operator=(const Var&) = delete;
  template <class T>
  Var& operator=(const T&) {
    static_assert(detail::never<T>, "a Var stands for every index of a dimension and is not assigned: write Expr next = i + 1");
    return *this;
  }

 private:
  friend struct detail::Access;
  explicit Var(const Expr& e) : Expr(e) {}
};

class Symbol : public Expr {  // an extent that each call supplies. Two Symbols with the same name are two extents
 public:
  struct Facts {  // checked by each call, used by proofs
    std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;
  };
  explicit Symbol(const char* name, Where = Where::current());
  Symbol(const char* name, Facts, Where = Where::current());
};

class AxisList;

class Axis : public Expr {  // a reduction axis. Bounds may use Vars (triangles), Symbols, and elements of inputs (tables)
 public:
  Axis(const char* name, Operand end, Where = Where::current());                 // [0, end)
  Axis(const char* name, Operand begin, Operand end, Where = Where::current());  // [begin, end)
  AxisList where(Operand condition) const;                                       // leaves out terms for which it is false
};

class AxisList {  // the axes of a reduction, outermost first, and conditions on them
 public:
  AxisList(const Axis& a) : axes_{a} {}
  AxisList(std::initializer_list<Axis> axes) : axes_(axes) {}
  explicit AxisList(std::vector<Axis> axes) : axes_(std::move(axes)) {}  // for operators of any rank
  template <std::derived_from<Expr> V>
    requires(!std::derived_from<V, Axis>)
  AxisList(const V&) {
    static_assert(detail::never<V>, "a reduction runs over an Axis: write Axis k{\"k\", n} and reduce over k");
  }
  AxisList where(Operand condition) const;

  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<Expr>& conditions() const { return conditions_; }

 private:
  std::vector<Axis> axes_;
  std::vector<Expr> conditions_;
};

// ---- extents -----------------------------------------------------------------------------------------------------------

struct Range {  // [begin, end)
  Expr begin, end;
};

class Extent {  // the extent of a dimension: a number, a Symbol, a formula of them, or a Range; optionally with a label
 public:
  template <Number T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Extent(T n) : Extent(Operand(n)) {}
  Extent(const Expr& end) : Extent(Operand(end)) {}
  Extent(Range r) : begin_(std::move(r.begin)), end_(std::move(r.end)) {}
  template <class T>
  Extent(const Param<T>& p) : Extent(static_cast<const T&>(p)) {}
  Extent(const char* label, const Extent& of) : begin_(of.begin_), end_(of.end_), label_(label) {}  // the label names the loop

  const Expr& begin() const { return begin_; }  // empty for 0
  const Expr& end() const { return end_; }
  const char* label() const { return label_; }  // null without a label

 private:
  explicit Extent(const Operand&);
  Expr begin_, end_;
  const char* label_ = nullptr;
};

struct DimAt {  // carries the line of the call into an operator
  int dim;
  Where where;
  DimAt(int d, Where w = Where::current()) : dim(d), where(w) {}
};

class Shape {  // the shape of a tensor of any rank, taken from a tensor or a vector; braces give a static rank
 public:
  static Shape of(std::vector<Extent>, Where = Where::current());  // at most max_rank
  int rank() const { return static_cast<int>(extents_.size()); }
  Shape drop(int dim, Where = Where::current()) const;                 // without one dimension
  Shape with(int dim, const Extent&, Where = Where::current()) const;  // with another extent; dim == rank() appends
  Expr operator[](DimAt) const;                                        // the extent of a dimension
  const std::vector<Extent>& extents() const { return extents_; }

 private:
  std::vector<Extent> extents_;
};

class Indices {  // the indices of a point, for operators of any rank
 public:
  int rank() const { return rank_; }
  Expr operator[](DimAt) const;
  Indices drop(int dim, Where = Where::current()) const;
  Indices with(int dim, Operand) const;  // dim == rank() appends

 private:
  friend struct detail::Access;
  Expr at_[max_rank];
  int rank_ = 0;
};

}  // namespace ashlar
