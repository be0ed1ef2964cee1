// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reads and writes at indices that come from data: gather, scatter, embedding, one_hot.
//
//   Tensor rows = ops::embedding(table, tokens);                 table: [V, D], tokens: [B, T], rows: [B, T, D]
//   auto y = ops::scatter_elements(x, places, updates, 0, ops::ScatterMode::add);
//
// Places are integers; negative ones count from the end. If a place is still out of range, gathers clamp it and scatters drop
// it. Places::promised states that all places are in range and not negative, and saves these tests; the interpreter checks the
// promise, compiled code trusts it. The dimension to gather from must have an extent of at least 1: a number, or a Symbol with
// {.min = 1}.
#include <ashlar/ops/common.h>

namespace ashlar::ops {

enum class Places { any, promised };

namespace detail {

Expr place(const Expr& data, const Expr& extent, Places places);

}  // namespace detail

// Replaces a dimension of x by those of `index`: y(a, i, b) = x(a, index(i), b) (ONNX Gather, torch.index_select).
Tensor gather(const Tensor& x, const Tensor& index, int axis = 0, Places places = Places::any, Where where = Where::current());
// y(i) = x(i) with index(i) as the index along the axis. `index` has the rank of x, and the extents of x in the other
// dimensions (torch.gather, ONNX GatherElements, NumPy's take_along_axis).
Tensor gather_elements(const Tensor& x, const Tensor& index, int axis = 0, Places places = Places::any,
                       Where where = Where::current());
// Rows of a table. table: [V, D]; ids: any shape; the result: [..., D].
Tensor embedding(const Tensor& table, const Tensor& ids, Places places = Places::any, Where where = Where::current());
// Sums of rows of a table. ids: [B, L]; the result: [B, D]. Sums are in the accumulator's type; the result has the type of the
// table.
struct EmbeddingBag {
  Tensor sum, result;
  operator Tensor() const { return result; }
};
EmbeddingBag embedding_bag(const Tensor& table, const Tensor& ids, Places places = Places::any, Where where = Where::current());
// `on` at the place of the id, `off` elsewhere. ids: any shape; the result: [..., depth]. An id out of range gives `off`
// everywhere; negative ids are out of range.
Tensor one_hot(const Tensor& ids, const Extent& depth, Type type = f32, Operand on = 1, Operand off = 0,
               Where where = Where::current());

// ---- scatter ---------------------------------------------------------------------------------------------------------------

// x, with updates(i) combined into the element at i, where index(i) is the index along the axis. index and updates have the
// same shape, with the rank of x (at most 4) and the extents of x in the other dimensions (ONNX ScatterElements,
// torch.scatter_reduce). With `replace`, the last update of an element in row-major order wins. Updates are combined in the
// type of x, not in a wider one: each addition of f16 rounds, and each addition of bytes wraps.
enum class ScatterMode { replace, add, multiply, max, min };
struct Scattered {
  Tensor combined;  // the updates, combined from the identity; with `replace`, the number of the winning update, or -1
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
        const Indices to = at.with(axis, in_range(wrapped, 0, n));  // the condition implies this
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

Scattered scatter_elements(const Tensor& x, const Tensor& index, const Tensor& updates, int axis = 0,
                           ScatterMode mode = ScatterMode::replace, Places places = Places::any,
                           Where where = Where::current());
// The gradient of an embedding. Row r of the result, [rows_of_y, D], is the sum of the rows n of updates, [N, D], with index(n)
// = r. It has the type of updates.
Tensor index_add(const Extent& rows_of_y, const Tensor& index, const Tensor& updates, Places places = Places::any,
                 Where where = Where::current());

}  // namespace ashlar::ops
