// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Shared by all operators: argument checks, accumulator types, broadcasting. docs/ops.md describes the conventions.
//
// A failed check names the argument and the line of the operator's caller, which every operator takes as its last parameter:
//   model.cpp:12: matmul: expected B whose dimension 0 has the extent 64, as dimension 1 of A has, found 32
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>
#include <ashlar/lang.h>
#include <ashlar/lang/multiple.h>

namespace ashlar::ops {

// The type in which an operator accumulates elements of type `t`: f32 for narrower floats, i32 for integers of at most 16 bits,
// otherwise t.
inline Type accumulator(Type t) {
  if (t.is_float()) return t.bits < 32 ? f32 : t;
  if (t.is_data_integer()) return t.bits < 32 ? i32 : t;
  return t;
}

namespace detail {

using ashlar::detail::Access;

// An argument in the form in which refusals print it.
std::string said(const Tensor& t, const char* argument, Where where);

// ---- expressions over extents ----------------------------------------------------------------------------------------------

// The value of a constant extent, or `otherwise`.
std::int64_t number_or(const Expr& e, std::int64_t otherwise);
bool same_extent(const Expr& a, const Expr& b);
// The extent with constants folded: H + 2 - 2 becomes H.
Expr plain(const Expr& e);

// ---- checks ----------------------------------------------------------------------------------------------------------------

void expect_rank(const char* op, const char* argument, const Tensor& t, int rank, Where where);
void expect_rank_from(const char* op, const char* argument, const Tensor& t, int least, Where where);
void expect_type(const char* op, const char* argument, const Tensor& t, Type type, Where where);
void expect_float(const char* op, const char* argument, const Tensor& t, Where where);
void expect_integer(const char* op, const char* argument, const Tensor& t, Where where);
void expect_numbers(const char* op, const char* argument, const Tensor& t, Where where);
// For a tensor that is added to sums or scales them: it must have the type of the operands or of their accumulator.
void expect_beside(const char* op, const char* argument, const Tensor& t, Type type, Where where);
void expect_same_type(const char* op, const char* first, const Tensor& a, const char* second, const Tensor& b, Where where);
// The extent's value, its formula or the facts of its Symbols must show that it is a multiple.
void expect_multiple(const char* op, const char* argument, const Tensor& t, int dim, std::int64_t of, Where where);
void expect_extent(const char* op, const char* argument, const Tensor& t, int dim, const Expr& wanted, const char* what,
                   Where where);
void expect_shape(const char* op, const char* argument, const Tensor& t, const std::vector<Expr>& wanted, const char* what,
                  Where where);
void expect(bool holds, const char* op, const std::string& expected, const std::string& found, Where where);

// The dimension that `axis` names. Negative numbers count from the end, as in NumPy.
int dimension(const char* op, int axis, int rank, Where where);

// ---- points ----------------------------------------------------------------------------------------------------------------

Indices point(const std::vector<Expr>& at);
std::vector<Expr> list(const Indices& i);
std::vector<Expr> extents(const Tensor& t, Where where);
Shape shape(const std::vector<Expr>& extents, Where where);

// ---- broadcasting, as in NumPy: shapes are aligned at the right, and an extent of 1 is stretched ---------------------------

struct Named {
  const char* name;
  const Tensor* tensor;
};
Shape broadcast_shape(const char* op, const std::vector<Named>& operands, Where where);
// t must broadcast to the shape of `other`, without stretching it.
void expect_broadcast(const char* op, const char* argument, const Tensor& t, const char* to, const Tensor& other, Where where);
// The element of an operand at a point of the broadcast shape.
Expr aligned(const Tensor& t, const Indices& i, Where where);

// ---- numbers that are computed when the operator is called -----------------------------------------------------------------

double reciprocal_root(double);                               // 1 / sqrt(x)
std::vector<double> rotary_rates(int dims, double base);      // base^(-2 p / dims) for each of the dims / 2 pairs p
std::vector<double> gaussian_taps(int radius, double sigma);  // 2 radius + 1 weights, normalized to the sum 1

// ---- stages of one formula -------------------------------------------------------------------------------------------------

// An elementwise stage: y(i) = f(x(i)). map_float takes floating-point types only.
template <class F>
Tensor map(const char* name, const Tensor& x, Where where, F f) {
  return compute(name, x.shape(where), [&](Indices i) { return Expr(f(Operand(x(i, where), where))); }, where);
}
template <class F>
Tensor map_float(const char* name, const Tensor& x, Where where, F f) {
  expect_float(name, "x", x, where);
  return map(name, x, where, f);
}
// The same, computed in the accumulator's type, so that a formula of several operations is rounded to a narrow type only once.
template <class F>
Tensor map_wide(const char* name, const Tensor& x, Where where, F f) {
  expect_float(name, "x", x, where);
  const Type type = x.type(where), wide = accumulator(type);
  return map(name, x, where, [&](const Operand& e) { return type(f(Operand(wide(e), where))); });
}
// An elementwise stage of two operands that broadcast.
template <class F>
Tensor zip(const char* name, const Tensor& a, const Tensor& b, Where where, F f) {
  expect_same_type(name, "a", a, "b", b, where);
  return compute(
      name, broadcast_shape(name, {{"a", &a}, {"b", &b}}, where),
      [&](Indices i) { return Expr(f(Operand(aligned(a, i, where), where), Operand(aligned(b, i, where), where))); }, where);
}
// The same elements in another type; x itself if it already has that type.
inline Tensor converted(const char* name, const Tensor& x, Type to, Where where) {
  return x.type(where) == to ? x : map(name, x, where, [&](const Operand& e) { return to(e); });
}

}  // namespace detail
}  // namespace ashlar::ops
