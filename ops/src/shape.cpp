// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/shape.h>

namespace ashlar::ops {

Tensor transpose(const Tensor& x, std::initializer_list<int> order, Where where) { return view::transpose(x, order, where); }
Tensor transpose(const Tensor& x, Where where) { return view::transpose(x, where); }  // all reversed
Tensor reshape(const Tensor& x, std::initializer_list<Extent> shape, Where where) { return view::reshape(x, shape, where); }
Tensor slice(const Tensor& x, int axis, Operand begin, Operand end, int step, Where where) {
  const auto index = [](const Operand& o) { return o.is_number() ? ir::index(o.integer()) : o.expr(); };
  return view::slice(x, detail::dimension("slice", axis, x.rank(where), where), Range{index(begin), index(end)}, step, where);
}
Tensor flip(const Tensor& x, int axis, Where where) {
  return view::reverse(x, detail::dimension("flip", axis, x.rank(where), where), where);
}
std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& extents, int axis, Where where) {
  const int d = detail::dimension("split", axis, x.rank(where), where);
  std::vector<Tensor> parts;
  Expr at = ir::index(0);
  for (const Expr& e : extents) {
    const Expr end = detail::plain(at + e);
    parts.push_back(view::slice(x, d, Range{at, end}, 1, where));
    at = end;
  }
  detail::expect_extent("split", "x", x, d, at, "the sum of the parts", where);
  return parts;
}
std::vector<Tensor> split(const Tensor& x, int parts, int axis, Where where) {
  const int d = detail::dimension("split", axis, x.rank(where), where);
  detail::expect(parts > 0, "split", "at least one part", std::to_string(parts), where);
  detail::expect_multiple("split", "x", x, d, parts, where);
  const Expr each = detail::plain(x.extent(d, where) / parts);
  std::vector<Tensor> all;
  for (int p = 0; p < parts; ++p)
    all.push_back(view::slice(x, d, Range{detail::plain(each * p), detail::plain(each * (p + 1))}, 1, where));
  return all;
}

Tensor copy(const Tensor& x, Where where) {
  return compute("copy", x.shape(where), [&](Indices i) { return x(i, where); }, where);
}
Tensor roll(const Tensor& x, Operand by, int axis, Where where) {
  const int d = detail::dimension("roll", axis, x.rank(where), where);
  const Expr n = x.extent(d, where);
  return detail::relocated("roll", x, d, n, where, [&](const Expr& i) { return (i - by) % n; });
}
Tensor concat(const std::vector<Tensor>& parts, int axis, Where where) {
  detail::expect(!parts.empty(), "concat", "at least one tensor", "none", where);
  const Tensor& first = parts.front();
  const int d = detail::dimension("concat", axis, first.rank(where), where);
  std::vector<Expr> begin{ir::index(0)};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name = "parts[" + std::to_string(p) + "]";
    detail::expect_rank("concat", name.c_str(), parts[p], first.rank(where), where);
    detail::expect_same_type("concat", "parts[0]", first, name.c_str(), parts[p], where);
    for (int e = 0; e < first.rank(where); ++e)
      if (e != d) detail::expect_extent("concat", name.c_str(), parts[p], e, first.extent(e, where), "as parts[0] has", where);
    begin.push_back(detail::plain(begin.back() + parts[p].extent(d, where)));
  }
  return compute(
      "concat", first.shape(where).with(d, begin.back(), where),
      [&](Indices i) {
        Expr e;
        for (std::size_t p = parts.size(); p-- > 0;) {
          const Expr element = parts[p](i.with(d, i[d] - begin[p]), where);
          e = e.empty() ? element : select(i[d] < begin[p + 1], element, e);
        }
        return e;
      },
      where);
}
Tensor stack(const std::vector<Tensor>& parts, int axis, Where where) {
  detail::expect(!parts.empty(), "stack", "at least one tensor", "none", where);
  const int d = detail::dimension("stack", axis, parts.front().rank(where) + 1, where);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name = "parts[" + std::to_string(p) + "]";
    detail::expect_same_type("stack", "parts[0]", parts.front(), name.c_str(), parts[p], where);
    detail::expect_shape("stack", name.c_str(), parts[p], detail::extents(parts.front(), where), "as parts[0] has", where);
  }
  std::vector<Expr> shape = detail::extents(parts.front(), where);
  shape.insert(shape.begin() + d, ir::index(static_cast<std::int64_t>(parts.size())));
  return compute(
      "stack", detail::shape(shape, where),
      [&](Indices i) {
        Expr e = parts.back()(i.drop(d), where);
        for (std::size_t p = parts.size() - 1; p-- > 0;)
          e = select(i[d] == static_cast<std::int64_t>(p), parts[p](i.drop(d), where), e);
        return e;
      },
      where);
}
Tensor tile(const Tensor& x, const std::vector<int>& times, Where where) {
  detail::expect(static_cast<int>(times.size()) == x.rank(where), "tile",
                 "a number of times for each of the " + std::to_string(x.rank(where)) + " dimensions of x",
                 std::to_string(times.size()), where);
  std::vector<Expr> shape = detail::extents(x, where);
  for (std::size_t d = 0; d < times.size(); ++d) {
    detail::expect(times[d] >= 0, "tile", "times of at least 0", std::to_string(times[d]), where);
    if (times[d] != 1) shape[d] = detail::plain(shape[d] * times[d]);
  }
  // The promise holds: where x has no element, neither has the result.
  return compute(
      "tile", detail::shape(shape, where),
      [&](Indices i) {
        Indices at;
        for (int d = 0; d < i.rank(); ++d)
          detail::Access::append(
              at, times[static_cast<std::size_t>(d)] == 1 ? i[d] : in_range(i[d] % x.extent(d, where), 0, x.extent(d, where)));
        return x(at, where);
      },
      where);
}
Tensor repeat_interleave(const Tensor& x, int times, int axis, Where where) {
  const int d = detail::dimension("repeat_interleave", axis, x.rank(where), where);
  detail::expect(times >= 1, "repeat_interleave", "times of at least 1", std::to_string(times), where);
  return detail::relocated("repeat_interleave", x, d, detail::plain(x.extent(d, where) * times), where,
                           [&](const Expr& i) { return i / times; });
}

Tensor pad(const Tensor& x, const std::vector<Pad>& padding, PadMode mode, Operand value, Where where) {
  detail::expect(static_cast<int>(padding.size()) == x.rank(where), "pad",
                 "a padding for each of the " + std::to_string(x.rank(where)) + " dimensions of x",
                 std::to_string(padding.size()), where);
  Tensor around = x;
  std::vector<Expr> shape = detail::extents(x, where);
  for (int d = 0; d < x.rank(where); ++d) {
    const Pad p = padding[static_cast<std::size_t>(d)];
    detail::expect(p.before >= 0 && p.after >= 0, "pad", "paddings of at least 0", std::to_string(std::min(p.before, p.after)),
                   where);
    if (p.before == 0 && p.after == 0) continue;
    shape[static_cast<std::size_t>(d)] = detail::plain(x.extent(d, where) + (p.before + p.after));
    around = mode == PadMode::constant  ? boundary::constant(around, value, {d})
             : mode == PadMode::edge    ? boundary::repeat(around, {d}, where)
             : mode == PadMode::reflect ? boundary::reflect(around, {d}, where)
             : mode == PadMode::wrap    ? boundary::wrap(around, {d}, where)
                                        : boundary::mirror(around, {d}, where);
  }
  return compute(
      "pad", detail::shape(shape, where),
      [&](Indices i) {
        Indices at;
        for (int d = 0; d < i.rank(); ++d) detail::Access::append(at, i[d] - padding[static_cast<std::size_t>(d)].before);
        return around(at, where);
      },
      where);
}

Tensor triu(const Tensor& x, int k, Where where) {
  detail::expect_rank_from("triu", "x", x, 2, where);
  const int r = x.rank(where);
  return compute(
      "triu", x.shape(where), [&](Indices i) { return select(i[r - 1] - i[r - 2] >= k, x(i, where), x.type(where)(0)); },
      where);
}
Tensor tril(const Tensor& x, int k, Where where) {
  detail::expect_rank_from("tril", "x", x, 2, where);
  const int r = x.rank(where);
  return compute(
      "tril", x.shape(where), [&](Indices i) { return select(i[r - 1] - i[r - 2] <= k, x(i, where), x.type(where)(0)); },
      where);
}

Tensor pixel_unshuffle(const Tensor& x, int block, Where where) {
  detail::expect_rank("pixel_unshuffle", "x", x, 4, where);
  detail::expect(block >= 1, "pixel_unshuffle", "a block of at least 1", std::to_string(block), where);
  for (const int d : {2, 3}) detail::expect_multiple("pixel_unshuffle", "x", x, d, block, where);
  const auto e = detail::extents(x, where);
  return compute(
      "pixel_unshuffle",
      {e[0], detail::plain(e[1] * (block * block)), detail::plain(e[2] / block), detail::plain(e[3] / block)},
      [&](Var n, Var c, Var h, Var w) {
        return x(n, c / (block * block), h * block + c / block % block, w * block + c % block);
      },
      where);
}
Tensor pixel_shuffle(const Tensor& x, int block, Where where) {
  detail::expect_rank("pixel_shuffle", "x", x, 4, where);
  detail::expect(block >= 1, "pixel_shuffle", "a block of at least 1", std::to_string(block), where);
  const auto e = detail::extents(x, where);
  detail::expect_multiple("pixel_shuffle", "x", x, 1, std::int64_t{block} * block, where);
  return compute(
      "pixel_shuffle", {e[0], detail::plain(e[1] / (block * block)), detail::plain(e[2] * block), detail::plain(e[3] * block)},
      [&](Var n, Var c, Var h, Var w) {
        return x(n, c * (block * block) + h % block * block + w % block, h / block, w / block);
      },
      where);
}

}  // namespace ashlar::ops
