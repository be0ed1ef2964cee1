// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements at places that data choose: gather, scatter, embedding, one-hot.
//
//   Tensor rows = ops::embedding(table, tokens);                 table: [V, D], tokens: [B, T], rows: [B, T, D]
//   auto y = ops::scatter_elements(x, places, updates, 0, ops::ScatterMode::add);
//
// Places are integers. Negative ones count from the back. What lies outside even so is brought to the nearest end by gathers,
// and dropped by scatters; Places::promised says that no place is negative or outside, and saves the work: the interpreter and
// the checked build hold the caller to it. A dimension that is gathered from has an extent of at least 1: a number, or {.min =
// 1}.
#include <ashlar/ops/common.h>

namespace ashlar::ops {

enum class Places { any, promised };

namespace detail {
inline Expr place(const Expr& data, const Expr& extent, Places places) {
  if (places == Places::promised) return in_range(data, 0, extent);
  const Expr i = data.type().is_unsigned() ? data + ir::index(0) : select(data < 0, data + extent, data + ir::index(0));
  return ashlar::clamp(i, 0, extent - 1);
}
}  // namespace detail

// x with the dimension replaced by those of `index`: y(a, i, b) = x(a, index(i), b) (ONNX Gather, torch.index_select for one).
inline Tensor gather(const Tensor& x, const Tensor& index, int axis = 0, Places places = Places::any,
                     Where where = Where::current()) {
  detail::expect_integer("gather", "index", index, where);
  const int d = detail::dimension("gather", axis, x.rank(where), where), more = index.rank(where);
  std::vector<Expr> shape = detail::extents(x, where);
  const Expr n = shape[static_cast<std::size_t>(d)];
  shape.erase(shape.begin() + d);
  const std::vector<Expr> of_index = detail::extents(index, where);
  shape.insert(shape.begin() + d, of_index.begin(), of_index.end());
  return compute(
      "gather", detail::shape(shape, where),
      [&](Indices i) {
        const std::vector<Expr> at = detail::list(i);
        const std::vector<Expr> which(at.begin() + d, at.begin() + d + more);
        std::vector<Expr> from(at.begin(), at.begin() + d);
        from.push_back(detail::place(index(detail::point(which), where), n, places));
        from.insert(from.end(), at.begin() + d + more, at.end());
        return x(detail::point(from), where);
      },
      where);
}
// y(i) = x(i but index(i) along the axis); index has the rank of x, and its extents in the other dimensions (torch.gather, ONNX
// GatherElements, NumPy's take_along_axis).
inline Tensor gather_elements(const Tensor& x, const Tensor& index, int axis = 0, Places places = Places::any,
                              Where where = Where::current()) {
  detail::expect_integer("gather_elements", "index", index, where);
  detail::expect_rank("gather_elements", "index", index, x.rank(where), where);
  const int d = detail::dimension("gather_elements", axis, x.rank(where), where);
  for (int e = 0; e < x.rank(where); ++e)
    if (e != d) detail::expect_extent("gather_elements", "index", index, e, x.extent(e, where), "as x has", where);
  return compute(
      "gather_elements", index.shape(where),
      [&](Indices i) { return x(i.with(d, detail::place(index(i, where), x.extent(d, where), places)), where); }, where);
}
// Rows of a table: table [V, D], ids of any shape, [..., D].
inline Tensor embedding(const Tensor& table, const Tensor& ids, Places places = Places::any, Where where = Where::current()) {
  detail::expect_rank("embedding", "table", table, 2, where);
  detail::expect_integer("embedding", "ids", ids, where);
  return gather(table, ids, 0, places, where);
}
// Sums of rows: ids [B, L], [B, D]; in the accumulator, then in the type of the table.
struct EmbeddingBag {
  Tensor sum, result;
  operator Tensor() const { return result; }
};
inline EmbeddingBag embedding_bag(const Tensor& table, const Tensor& ids, Places places = Places::any,
                                  Where where = Where::current()) {
  detail::expect_rank("embedding_bag", "table", table, 2, where);
  detail::expect_rank("embedding_bag", "ids", ids, 2, where);
  detail::expect_integer("embedding_bag", "ids", ids, where);
  const Type type = table.type(where), wide = accumulator(type);
  const Axis l{"l", Operand(ids.extent(1, where), where), where};
  EmbeddingBag b;
  b.sum = compute(
      "embedding_bag", {{"b", ids.extent(0, where)}, {"d", table.extent(1, where)}},
      [&](Var n, Var c) { return sum(wide(table(detail::place(ids(n, l), table.extent(0, where), places), c)), l, where); },
      where);
  b.result = type.is_float() ? detail::converted("embedding_bag", b.sum, type, where) : b.sum;
  return b;
}
// on where the place is the id, else off: ids of any shape, [..., depth]. An id outside, any negative one too, has `off`
// everywhere.
inline Tensor one_hot(const Tensor& ids, const Extent& depth, Type type = f32, Operand on = 1, Operand off = 0,
                      Where where = Where::current()) {
  detail::expect_integer("one_hot", "ids", ids, where);
  const int last = ids.rank(where);
  return compute(
      "one_hot", ids.shape(where).with(last, Extent("k", depth), where),
      [&](Indices i) { return select(ids(i.drop(last), where) == i[last], type(on), type(off)); }, where);
}

// ---- scatter ---------------------------------------------------------------------------------------------------------------

// x, with updates(i) combined into its element at i, but index(i) along the axis: index and updates have one shape, of the
// rank of x (at most 4) and its extents in the other dimensions (ONNX ScatterElements, torch.scatter_reduce). With replace, of
// several updates of one element the last one in row-major order stays. Updates are combined in the type of x, not in a wider
// one: f16 rounds, and bytes wrap, at each.
enum class ScatterMode { replace, add, multiply, max, min };
struct Scattered {
  Tensor combined;  // of the updates alone, onto the identity; of replace: the number of the update that stays, -1 for none
  Tensor result;
  operator Tensor() const { return result; }
};
namespace detail {
template <std::size_t Rank, class F, std::size_t... D>
Tensor scatter_ranked(const char* name, const Tensor& x, const Tensor& index, int axis, Places places, Combine combine,
                      const Operand& init, Where where, F value, std::index_sequence<D...>) {
  const Extent result[] = {Extent(x.extent(static_cast<int>(D), where))...};
  const Extent over[] = {Extent(index.extent(static_cast<int>(D), where))...};
  const Expr n = x.extent(axis, where);
  return scatter(
      name, result, combine, init, over,
      [&](ashlar::detail::VarAt<D>... i) {
        const Indices at = point({Expr(i)...});
        const Expr given = index(at, where);
        if (places == Places::promised) {
          const Indices to = at.with(axis, in_range(given, 0, n));
          return put(Operand(value(at), where), to[static_cast<int>(D)]...);
        }
        const Expr wrapped =
            given.type().is_unsigned() ? given + ir::index(0) : select(given < 0, given + n, given + ir::index(0));
        const Indices to = at.with(axis, in_range(wrapped, 0, n));  // what the condition says
        return put_if(Operand(wrapped >= 0 && wrapped < n, where), Operand(value(at), where), to[static_cast<int>(D)]...);
      },
      where);
}
template <class F>
Tensor scatter_any(const char* name, const Tensor& x, const Tensor& index, int axis, Places places, Combine combine,
                   const Operand& init, Where where, F value) {
  switch (x.rank(where)) {
    case 1:
      return scatter_ranked<1>(name, x, index, axis, places, combine, init, where, value, std::make_index_sequence<1>{});
    case 2:
      return scatter_ranked<2>(name, x, index, axis, places, combine, init, where, value, std::make_index_sequence<2>{});
    case 3:
      return scatter_ranked<3>(name, x, index, axis, places, combine, init, where, value, std::make_index_sequence<3>{});
    case 4:
      return scatter_ranked<4>(name, x, index, axis, places, combine, init, where, value, std::make_index_sequence<4>{});
    default:
      refuse(name, "x of rank 1 to 4", "rank " + std::to_string(x.rank(where)), where);
  }
}
}  // namespace detail

inline Scattered scatter_elements(const Tensor& x, const Tensor& index, const Tensor& updates, int axis = 0,
                                  ScatterMode mode = ScatterMode::replace, Places places = Places::any,
                                  Where where = Where::current()) {
  const char* op = "scatter_elements";
  detail::expect_integer(op, "index", index, where);
  detail::expect_same_type(op, "x", x, "updates", updates, where);
  detail::expect_rank(op, "index", index, x.rank(where), where);
  detail::expect_shape(op, "updates", updates, detail::extents(index, where), "as index has", where);
  const int d = detail::dimension(op, axis, x.rank(where), where);
  for (int e = 0; e < x.rank(where); ++e)
    if (e != d) detail::expect_extent(op, "index", index, e, x.extent(e, where), "as x has", where);
  const Type type = x.type(where);
  Scattered s;
  if (mode == ScatterMode::replace) {
    s.combined =
        detail::scatter_any(op, x, index, d, places, Combine::max, i64(-1), where, [&](const Indices& i) { return i64(i[d]); });
    s.result = compute(
        op, x.shape(where),
        [&](Indices i) {
          const Expr last = s.combined(i, where);
          return select(last >= 0, updates(i.with(d, ashlar::clamp(last, 0, index.extent(d, where) - 1)), where), x(i, where));
        },
        where);
    return s;
  }
  const auto value = [&](const Indices& i) { return updates(i, where); };
  const auto with = [&](Combine c, const Operand& init) {
    return detail::scatter_any(op, x, index, d, places, c, init, where, value);
  };
  s.combined = mode == ScatterMode::add        ? with(Combine::add, type(0))
               : mode == ScatterMode::multiply ? with(Combine::multiply, type(1))
               : mode == ScatterMode::max      ? with(Combine::max, lowest(type))
                                               : with(Combine::min, highest(type));
  s.result = detail::zip(op, x, s.combined, where, [&](const Operand& a, const Operand& b) -> Expr {
    if (mode == ScatterMode::add) return a + b;
    if (mode == ScatterMode::multiply) return a * b;
    return mode == ScatterMode::max ? ashlar::max(a, b) : ashlar::min(a, b);
  });
  return s;
}
// The gradient of an embedding: row index(n) of the result, [rows, D], is the sum of the rows n of updates [N, D], in their
// type.
inline Tensor index_add(const Extent& rows_of_y, const Tensor& index, const Tensor& updates, Places places = Places::any,
                        Where where = Where::current()) {
  const Expr& rows = rows_of_y.end();
  detail::expect_rank("index_add", "index", index, 1, where);
  detail::expect_integer("index_add", "index", index, where);
  detail::expect_rank("index_add", "updates", updates, 2, where);
  detail::expect_extent("index_add", "updates", updates, 0, index.extent(0, where), "as index has", where);
  const Type type = updates.type(where);
  return scatter(
      "index_add", {rows, updates.extent(1, where)}, Combine::add, type(0),
      {{"n", index.extent(0, where)}, {"d", updates.extent(1, where)}},
      [&](Var n, Var d) {
        const Expr given = index(n);
        if (places == Places::promised) return put_if(Expr(true), updates(n, d), in_range(given, 0, rows), d);
        const Expr to =
            given.type().is_unsigned() ? given + ir::index(0) : select(given < 0, given + rows, given + ir::index(0));
        return put_if(to >= 0 && to < rows, updates(n, d), in_range(to, 0, rows), d);
      },
      where);
}

}  // namespace ashlar::ops
