// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Index variables and extents. All of them are Exprs of type index, a mathematical integer; each has an identity, and its
// name is for people.
//
//   Symbol N{"N", {.min = 1}};          an extent known at the call, with facts checked at entry and used by every proof
//   Axis k{"k", N}, d{"d", -2, 3};      reduction axes: [0, N) and [-2, 3), half open as everything here
//   sum(A(i, k), k.where(k <= i))       only the points of the axis where the condition holds
//
// A Var is one index of the tensor being defined: only compute(...) makes them.
#include <initializer_list>
#include <utility>
#include <vector>

#include <ashlar/lang/expr.h>

namespace ashlar {

inline constexpr int max_rank = 8;  // of a tensor

namespace detail {
struct Access;
}

class Var : public Expr {  // one index of the tensor being defined
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

class Symbol : public Expr {  // an extent known at the call; shared by identity, not by name
 public:
  struct Facts {  // checked at entry, used by every proof
    std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;
  };
  explicit Symbol(const char* name, Where = Where::current());
  Symbol(const char* name, Facts, Where = Where::current());
};

class AxisList;

class Axis : public Expr {  // of a reduction; bounds may use Vars (triangles), symbols, and elements of inputs (tables)
 public:
  Axis(const char* name, Operand end, Where = Where::current());                 // [0, end)
  Axis(const char* name, Operand begin, Operand end, Where = Where::current());  // [begin, end)
  AxisList where(Operand condition) const;                                       // only the points at which it holds
};

class AxisList {  // what a reduction runs over: its axes, outermost first, and conditions on them
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
};  // half open

class Extent {  // of a dimension: a number, a Symbol, a formula of them, or a Range; with a label or without
 public:
  template <Number T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Extent(T n) : Extent(Operand(n)) {}
  Extent(const Expr& end) : Extent(Operand(end)) {}
  Extent(Range r) : begin_(std::move(r.begin)), end_(std::move(r.end)) {}
  template <class T>
  Extent(const Param<T>& p) : Extent(static_cast<const T&>(p)) {}
  Extent(const char* label, const Extent& of) : begin_(of.begin_), end_(of.end_), label_(label) {}  // a name for the loop

  const Expr& begin() const { return begin_; }  // empty: 0
  const Expr& end() const { return end_; }
  const char* label() const { return label_; }  // null: none

 private:
  explicit Extent(const Operand&);
  Expr begin_, end_;
  const char* label_ = nullptr;
};

struct DimAt {  // carries the line into an operator
  int dim;
  Where where;
  DimAt(int d, Where w = Where::current()) : dim(d), where(w) {}
};

class Shape {  // for operators of any rank: made from a tensor or a vector, never from braces (those are the static rank)
 public:
  static Shape of(std::vector<Extent>, Where = Where::current());  // at most max_rank
  int rank() const { return static_cast<int>(extents_.size()); }
  Shape drop(int dim, Where = Where::current()) const;                 // without a dimension
  Shape with(int dim, const Extent&, Where = Where::current()) const;  // dim == rank() appends
  Expr operator[](DimAt) const;                                        // the extent
  const std::vector<Extent>& extents() const { return extents_; }

 private:
  std::vector<Extent> extents_;
};

class Indices {  // the indices of a point, of any rank
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
