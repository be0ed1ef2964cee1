// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/index.h>

namespace ashlar::ops {

namespace detail {

Expr place(const Expr& data, const Expr& extent, Places places) {
  if (places == Places::promised) return in_range(data, 0, extent);
  const Expr i = data.type().is_unsigned() ? data + ir::index(0) : select(data < 0, data + extent, data + ir::index(0));
  return ashlar::clamp(i, 0, extent - 1);
}

}  // namespace detail

Tensor gather(const Tensor& x, const Tensor& index, int axis, Places places, Where where) {
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
Tensor gather_elements(const Tensor& x, const Tensor& index, int axis, Places places, Where where) {
  detail::expect_integer("gather_elements", "index", index, where);
  detail::expect_rank("gather_elements", "index", index, x.rank(where), where);
  const int d = detail::dimension("gather_elements", axis, x.rank(where), where);
  for (int e = 0; e < x.rank(where); ++e)
    if (e != d) detail::expect_extent("gather_elements", "index", index, e, x.extent(e, where), "as x has", where);
  return compute(
      "gather_elements", index.shape(where),
      [&](Indices i) { return x(i.with(d, detail::place(index(i, where), x.extent(d, where), places)), where); }, where);
}
Tensor embedding(const Tensor& table, const Tensor& ids, Places places, Where where) {
  detail::expect_rank("embedding", "table", table, 2, where);
  detail::expect_integer("embedding", "ids", ids, where);
  return gather(table, ids, 0, places, where);
}
EmbeddingBag embedding_bag(const Tensor& table, const Tensor& ids, Places places, Where where) {
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
Tensor one_hot(const Tensor& ids, const Extent& depth, Type type, Operand on, Operand off, Where where) {
  detail::expect_integer("one_hot", "ids", ids, where);
  const int last = ids.rank(where);
  return compute(
      "one_hot", ids.shape(where).with(last, Extent("k", depth), where),
      [&](Indices i) { return select(ids(i.drop(last), where) == i[last], type(on), type(off)); }, where);
}

Scattered scatter_elements(const Tensor& x, const Tensor& index, const Tensor& updates, int axis, ScatterMode mode,
                           Places places, Where where) {
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
Tensor index_add(const Extent& rows_of_y, const Tensor& index, const Tensor& updates, Places places, Where where) {
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
