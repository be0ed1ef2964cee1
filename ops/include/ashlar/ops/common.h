// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the operators share: checks of arguments, types of sums, shapes that broadcast. docs/ops.md says the conventions.
//
// A check refuses at the line of the operator's caller, which each operator takes last, and names the argument:
//   model.cpp:12: matmul: expected B [K, N] with K = 64, the extent of A in dimension 1, found 32
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/multiple.h>

namespace ashlar::ops {

// The type in which an operator sums elements of `t`: f32 for narrower floats, i32 for integers of at most 16 bits, otherwise
// t.
inline Type accumulator(Type t) {
  if (t.is_float()) return t.bits < 32 ? f32 : t;
  if (t.is_data_integer()) return t.bits < 32 ? i32 : t;
  return t;
}

namespace detail {

using ashlar::detail::Access;

inline std::string said(const Tensor& t, const char* argument, Where where) {
  std::string text = std::string(argument) + " of shape [";
  const Shape s = t.shape(where);
  for (int d = 0; d < s.rank(); ++d) text += (d ? ", " : "") + ir::text(s[DimAt(d, where)]);
  return text + "]";
}

// ---- expressions over extents ----------------------------------------------------------------------------------------------

inline std::int64_t number_or(const Expr& e, std::int64_t otherwise) {
  std::int64_t v = otherwise;
  return ir::is_int(e, &v) ? v : otherwise;
}
inline bool same_extent(const Expr& a, const Expr& b) {
  return ir::same(a, b) || ir::is_int(analysis::simplify(ir::sub(a, b)), std::int64_t{0});
}
// An extent as the language would have it written: constants folded, so that H + 2 - 2 is H.
inline Expr plain(const Expr& e) { return analysis::simplify(e); }

// ---- checks ----------------------------------------------------------------------------------------------------------------

inline void expect_rank(const char* op, const char* argument, const Tensor& t, int rank, Where where) {
  if (t.rank(where) != rank)
    refuse(op, std::string(argument) + " of rank " + std::to_string(rank), "rank " + std::to_string(t.rank(where)), where);
}
inline void expect_rank_from(const char* op, const char* argument, const Tensor& t, int least, Where where) {
  if (t.rank(where) < least)
    refuse(op, std::string(argument) + " of rank " + std::to_string(least) + " or more",
           "rank " + std::to_string(t.rank(where)), where);
}
inline void expect_type(const char* op, const char* argument, const Tensor& t, Type type, Where where) {
  if (t.type(where) != type) refuse(op, std::string(argument) + " of " + ir::text(type), ir::text(t.type(where)), where);
}
inline void expect_float(const char* op, const char* argument, const Tensor& t, Where where) {
  if (!t.type(where).is_float()) refuse(op, std::string(argument) + " of a floating type", ir::text(t.type(where)), where);
}
inline void expect_integer(const char* op, const char* argument, const Tensor& t, Where where) {
  if (!t.type(where).is_data_integer())
    refuse(op, std::string(argument) + " of an integer type", ir::text(t.type(where)), where);
}
inline void expect_numbers(const char* op, const char* argument, const Tensor& t, Where where) {
  if (t.type(where).is_bool()) refuse(op, std::string(argument) + " of numbers", "bool", where);
}
// What is added to sums or scales them: of the type of the operands, or of their accumulator.
inline void expect_beside(const char* op, const char* argument, const Tensor& t, Type type, Where where) {
  if (t.empty() || t.type(where) == type || t.type(where) == accumulator(type)) return;
  const std::string wide = accumulator(type) == type ? "" : " or " + ir::text(accumulator(type));
  refuse(op, std::string(argument) + " of " + ir::text(type) + wide, ir::text(t.type(where)), where);
}
inline void expect_same_type(const char* op, const char* first, const Tensor& a, const char* second, const Tensor& b,
                             Where where) {
  if (a.type(where) != b.type(where))
    refuse(op, std::string(second) + " of " + ir::text(a.type(where)) + ", as " + first, ir::text(b.type(where)), where);
}
// As its number, its formula or the facts of its Symbols show.
inline void expect_multiple(const char* op, const char* argument, const Tensor& t, int dim, std::int64_t of, Where where) {
  const Expr extent = t.extent(dim, where);
  if (!is_multiple(extent, of))
    refuse(op, std::string(argument) + " whose dimension " + std::to_string(dim) + " is a multiple of " + std::to_string(of),
           ir::text(extent), where);
}
inline void expect_extent(const char* op, const char* argument, const Tensor& t, int dim, const Expr& wanted, const char* what,
                          Where where) {
  const Expr found = t.extent(dim, where);
  if (!same_extent(found, wanted))
    refuse(
        op,
        std::string(argument) + " whose dimension " + std::to_string(dim) + " has the extent " + ir::text(wanted) + ", " + what,
        ir::text(found), where);
}
inline void expect_shape(const char* op, const char* argument, const Tensor& t, const std::vector<Expr>& wanted,
                         const char* what, Where where) {
  expect_rank(op, argument, t, static_cast<int>(wanted.size()), where);
  for (std::size_t d = 0; d < wanted.size(); ++d) expect_extent(op, argument, t, static_cast<int>(d), wanted[d], what, where);
}
inline void expect(bool holds, const char* op, const std::string& expected, const std::string& found, Where where) {
  if (!holds) refuse(op, expected, found, where);
}

// A dimension counted from the front, or from the back where negative, as NumPy counts.
inline int dimension(const char* op, int axis, int rank, Where where) {
  if (rank == 0) refuse(op, "x of rank 1 or more, for an axis of it", "rank 0", where);
  if (axis < -rank || axis >= rank)
    refuse(op, "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1), std::to_string(axis), where);
  return axis < 0 ? axis + rank : axis;
}

// ---- points ----------------------------------------------------------------------------------------------------------------

inline Indices point(const std::vector<Expr>& at) {
  Indices i;
  for (const Expr& e : at) Access::append(i, e);
  return i;
}
inline std::vector<Expr> list(const Indices& i) {
  std::vector<Expr> at;
  for (int d = 0; d < i.rank(); ++d) at.push_back(i[d]);
  return at;
}
inline std::vector<Expr> extents(const Tensor& t, Where where) {
  std::vector<Expr> all;
  for (int d = 0; d < t.rank(where); ++d) all.push_back(t.extent(d, where));
  return all;
}
inline Shape shape(const std::vector<Expr>& extents, Where where) {
  std::vector<Extent> all;
  for (const Expr& e : extents) all.emplace_back(e);
  return Shape::of(std::move(all), where);
}

// ---- broadcasting as NumPy: shapes are aligned at the right, and an extent of 1 meets any other ----------------------------

struct Named {
  const char* name;
  const Tensor* tensor;
};
inline Shape broadcast_shape(const char* op, const std::vector<Named>& operands, Where where) {
  std::vector<Extent> result;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    const Shape s = operands[n].tensor->shape(where);
    while (result.size() < static_cast<std::size_t>(s.rank())) result.insert(result.begin(), Extent(1));
    const std::size_t fresh = result.size() - static_cast<std::size_t>(s.rank());
    for (int d = 0; d < s.rank(); ++d) {
      Extent& r = result[fresh + static_cast<std::size_t>(d)];
      const Extent& own = s.extents()[static_cast<std::size_t>(d)];
      if (ir::is_int(r.end(), std::int64_t{1}))
        r = own;
      else if (!ir::is_int(own.end(), std::int64_t{1}) && !same_extent(r.end(), own.end()))
        refuse(op,
               std::string(operands[n].name) + " whose dimension " + std::to_string(d) + " has the extent " +
                   ir::text(r.end()) + ", as the others, or the number 1",
               ir::text(own.end()), where);
    }
  }
  return Shape::of(std::move(result), where);
}
// t broadcasts to the shape of another, which it does not stretch.
inline void expect_broadcast(const char* op, const char* argument, const Tensor& t, const char* to, const Tensor& other,
                             Where where) {
  const Shape all = broadcast_shape(op, {{to, &other}, {argument, &t}}, where), own = other.shape(where);
  bool same = all.rank() == own.rank();
  for (int d = 0; same && d < own.rank(); ++d) same = same_extent(all[DimAt(d, where)], own[DimAt(d, where)]);
  if (!same)
    refuse(op, std::string(argument) + " that broadcasts to " + said(other, to, where), said(t, argument, where), where);
}
// The element of an operand that stands at a point of the broadcast shape.
inline Expr aligned(const Tensor& t, const Indices& i, Where where) {
  const int rank = t.rank(where), fresh = i.rank() - rank;
  Indices at;
  for (int d = 0; d < rank; ++d)
    Access::append(at, ir::is_int(t.extent(d, where), std::int64_t{1}) ? ir::index(0) : i[fresh + d]);
  return t(at, where);
}

// ---- stages of one formula -------------------------------------------------------------------------------------------------

template <class F>
Tensor map(const char* name, const Tensor& x, Where where, F f) {
  return compute(name, x.shape(where), [&](Indices i) { return Expr(f(Operand(x(i, where), where))); }, where);
}
template <class F>
Tensor map_float(const char* name, const Tensor& x, Where where, F f) {
  expect_float(name, "x", x, where);
  return map(name, x, where, f);
}
// The same in the accumulator's type: a formula of several steps is rounded to a narrow type once.
template <class F>
Tensor map_wide(const char* name, const Tensor& x, Where where, F f) {
  expect_float(name, "x", x, where);
  const Type type = x.type(where), wide = accumulator(type);
  return map(name, x, where, [&](const Operand& e) { return type(f(Operand(wide(e), where))); });
}
template <class F>
Tensor zip(const char* name, const Tensor& a, const Tensor& b, Where where, F f) {
  expect_same_type(name, "a", a, "b", b, where);
  return compute(
      name, broadcast_shape(name, {{"a", &a}, {"b", &b}}, where),
      [&](Indices i) { return Expr(f(Operand(aligned(a, i, where), where), Operand(aligned(b, i, where), where))); }, where);
}
// The same elements in another type; the tensor itself where it has that type.
inline Tensor converted(const char* name, const Tensor& x, Type to, Where where) {
  return x.type(where) == to ? x : map(name, x, where, [&](const Operand& e) { return to(e); });
}

}  // namespace detail
}  // namespace ashlar::ops
