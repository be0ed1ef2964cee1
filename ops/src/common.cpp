// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/common.h>

#include <cmath>

#include <ashlar/analysis/simplify.h>

namespace ashlar::ops::detail {

std::string said(const Tensor& t, const char* argument, Where where) {
  std::string text = std::string(argument) + " of shape [";
  const Shape s = t.shape(where);
  for (int d = 0; d < s.rank(); ++d) text += (d ? ", " : "") + ir::text(s[DimAt(d, where)]);
  return text + "]";
}

std::int64_t number_or(const Expr& e, std::int64_t otherwise) {
  std::int64_t v = otherwise;
  return ir::is_int(e, &v) ? v : otherwise;
}
bool same_extent(const Expr& a, const Expr& b) {
  return ir::same(a, b) || ir::is_int(analysis::simplify(ir::sub(a, b)), std::int64_t{0});
}
Expr plain(const Expr& e) { return analysis::simplify(e); }

void expect_rank(const char* op, const char* argument, const Tensor& t, int rank, Where where) {
  if (t.rank(where) != rank)
    refuse(op, std::string(argument) + " of rank " + std::to_string(rank), "rank " + std::to_string(t.rank(where)), where);
}
void expect_rank_from(const char* op, const char* argument, const Tensor& t, int least, Where where) {
  if (t.rank(where) < least)
    refuse(op, std::string(argument) + " of rank " + std::to_string(least) + " or more",
           "rank " + std::to_string(t.rank(where)), where);
}
void expect_type(const char* op, const char* argument, const Tensor& t, Type type, Where where) {
  if (t.type(where) != type) refuse(op, std::string(argument) + " of " + ir::text(type), ir::text(t.type(where)), where);
}
void expect_float(const char* op, const char* argument, const Tensor& t, Where where) {
  if (!t.type(where).is_float()) refuse(op, std::string(argument) + " of a floating type", ir::text(t.type(where)), where);
}
void expect_integer(const char* op, const char* argument, const Tensor& t, Where where) {
  if (!t.type(where).is_data_integer())
    refuse(op, std::string(argument) + " of an integer type", ir::text(t.type(where)), where);
}
void expect_numbers(const char* op, const char* argument, const Tensor& t, Where where) {
  if (t.type(where).is_bool()) refuse(op, std::string(argument) + " of numbers", "bool", where);
}
void expect_beside(const char* op, const char* argument, const Tensor& t, Type type, Where where) {
  if (t.empty() || t.type(where) == type || t.type(where) == accumulator(type)) return;
  const std::string wide = accumulator(type) == type ? "" : " or " + ir::text(accumulator(type));
  refuse(op, std::string(argument) + " of " + ir::text(type) + wide, ir::text(t.type(where)), where);
}
void expect_same_type(const char* op, const char* first, const Tensor& a, const char* second, const Tensor& b, Where where) {
  if (a.type(where) != b.type(where))
    refuse(op, std::string(second) + " of " + ir::text(a.type(where)) + ", as " + first, ir::text(b.type(where)), where);
}
void expect_multiple(const char* op, const char* argument, const Tensor& t, int dim, std::int64_t of, Where where) {
  const Expr extent = t.extent(dim, where);
  if (!is_multiple(extent, of))
    refuse(op, std::string(argument) + " whose dimension " + std::to_string(dim) + " is a multiple of " + std::to_string(of),
           ir::text(extent), where);
}
void expect_extent(const char* op, const char* argument, const Tensor& t, int dim, const Expr& wanted, const char* what,
                   Where where) {
  const Expr found = t.extent(dim, where);
  if (!same_extent(found, wanted))
    refuse(
        op,
        std::string(argument) + " whose dimension " + std::to_string(dim) + " has the extent " + ir::text(wanted) + ", " + what,
        ir::text(found), where);
}
void expect_shape(const char* op, const char* argument, const Tensor& t, const std::vector<Expr>& wanted, const char* what,
                  Where where) {
  expect_rank(op, argument, t, static_cast<int>(wanted.size()), where);
  for (std::size_t d = 0; d < wanted.size(); ++d) expect_extent(op, argument, t, static_cast<int>(d), wanted[d], what, where);
}
void expect(bool holds, const char* op, const std::string& expected, const std::string& found, Where where) {
  if (!holds) refuse(op, expected, found, where);
}

int dimension(const char* op, int axis, int rank, Where where) {
  if (rank == 0) refuse(op, "x of rank 1 or more, for an axis of it", "rank 0", where);
  if (axis < -rank || axis >= rank)
    refuse(op, "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1), std::to_string(axis), where);
  return axis < 0 ? axis + rank : axis;
}

Indices point(const std::vector<Expr>& at) {
  Indices i;
  for (const Expr& e : at) Access::append(i, e);
  return i;
}
std::vector<Expr> list(const Indices& i) {
  std::vector<Expr> at;
  for (int d = 0; d < i.rank(); ++d) at.push_back(i[d]);
  return at;
}
std::vector<Expr> extents(const Tensor& t, Where where) {
  std::vector<Expr> all;
  for (int d = 0; d < t.rank(where); ++d) all.push_back(t.extent(d, where));
  return all;
}
Shape shape(const std::vector<Expr>& extents, Where where) {
  std::vector<Extent> all;
  for (const Expr& e : extents) all.emplace_back(e);
  return Shape::of(std::move(all), where);
}

Shape broadcast_shape(const char* op, const std::vector<Named>& operands, Where where) {
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
void expect_broadcast(const char* op, const char* argument, const Tensor& t, const char* to, const Tensor& other, Where where) {
  const Shape all = broadcast_shape(op, {{to, &other}, {argument, &t}}, where), own = other.shape(where);
  bool same = all.rank() == own.rank();
  for (int d = 0; same && d < own.rank(); ++d) same = same_extent(all[DimAt(d, where)], own[DimAt(d, where)]);
  if (!same)
    refuse(op, std::string(argument) + " that broadcasts to " + said(other, to, where), said(t, argument, where), where);
}
Expr aligned(const Tensor& t, const Indices& i, Where where) {
  const int rank = t.rank(where), fresh = i.rank() - rank;
  Indices at;
  for (int d = 0; d < rank; ++d)
    Access::append(at, ir::is_int(t.extent(d, where), std::int64_t{1}) ? ir::index(0) : i[fresh + d]);
  return t(at, where);
}

double reciprocal_root(double x) { return 1 / std::sqrt(x); }

std::vector<double> rotary_rates(int dims, double base) {
  std::vector<double> rates;
  for (int p = 0; p < dims / 2; ++p) rates.push_back(std::pow(base, -2.0 * p / dims));
  return rates;
}

std::vector<double> gaussian_taps(int radius, double sigma) {
  std::vector<double> taps;
  double total = 0;
  for (int d = -radius; d <= radius; ++d) taps.push_back(std::exp(-d * d / (2 * sigma * sigma))), total += taps.back();
  for (double& t : taps) t /= total;
  return taps;
}

}  // namespace ashlar::ops::detail
