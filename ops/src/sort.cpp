// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/sort.h>

#include <bit>

namespace ashlar::ops {

namespace detail {

Expr less(const Expr& a, const Expr& b) { return a.type().is_float() ? !isnan(a) && (isnan(b) || a < b) : Expr(a < b); }
Expr equal(const Expr& a, const Expr& b) { return a.type().is_float() ? a == b || (isnan(a) && isnan(b)) : Expr(a == b); }

}  // namespace detail

namespace {

// Integers of 32 bits, as i64, that compare as elements do.
Expr sorting_key(const Expr& v) {
  if (!v.type().is_float()) return i64(v) - (v.type() == u32 ? std::int64_t{1} << 31 : 0);
  const Expr wide = f32(v), bits = bitcast(i32, wide + 0.0f);  // -0 + 0 = 0: the zeros are equal
  return i64(select(isnan(wide), highest(i32), bits ^ ((bits >> 31) & 0x7fffffff)));
}
Expr element_of_key(const Expr& key, Type type) {
  if (!type.is_float()) return type(key + (type == u32 ? std::int64_t{1} << 31 : 0));
  const Expr bits = i32(key);
  return type(bitcast(f32, bits ^ ((bits >> 31) & 0x7fffffff)));
}
}  // namespace

namespace {

Sorted by_counting(const Tensor& x, int d, bool descending, Where where) {
  const Expr n = x.extent(d, where);
  const Axis j{"j", Operand(n, where), where};
  Sorted s;
  s.rank = compute(
      "sort_rank", x.shape(where),
      [&](Indices i) {
        const Expr own = x(i, where), other = x(i.with(d, j), where);
        const Expr before =
            (descending ? detail::less(own, other) : detail::less(other, own)) || (detail::equal(own, other) && j < i[d]);
        return sum(select(before, i64(1), 0), j, where);
      },
      where);
  s.index = detail::scatter_any("sort", x, s.rank, d, Places::promised, Combine::max, i64(0), where,
                                [&](const Indices& i) { return i64(i[d]); });
  return s;
}

constexpr std::int64_t longest_network = 16384;

// Step s compares the elements whose numbers differ in the bit stride[s], upwards where the bit block[s] of the number is 0.
Sorted by_network(const Tensor& x, int d, bool descending, Where where) {
  const Type type = x.type(where);
  detail::expect(type.bits <= 32, "sort", "x of numbers of at most 32 bits for a network (SortBy::counting takes all)",
                 ir::text(type), where);
  const std::int64_t n = detail::number_or(x.extent(d, where), -1);
  detail::expect(
      n >= 1 && n <= longest_network, "sort",
      "an extent that is a number of 1 to " + std::to_string(longest_network) + " for a network (SortBy::counting takes all)",
      n < 0 ? ir::text(x.extent(d, where)) : std::to_string(n), where);
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  std::vector<std::int64_t> block{0}, stride{0};  // of the first step, which only takes the elements
  for (std::int64_t k = 2; k <= power; k *= 2)
    for (std::int64_t j = k / 2; j > 0; j /= 2) block.push_back(k), stride.push_back(j);
  const auto steps = static_cast<std::int64_t>(block.size());
  const Tensor blocks = constant("sort_blocks", i32, {steps}, block), strides = constant("sort_strides", i32, {steps}, stride);

  std::vector<Extent> extents{steps};
  for (int e = 0; e < x.rank(where); ++e) extents.push_back(e == d ? Extent(power) : Extent(x.extent(e, where)));
  const auto at_step = [](const Expr& step, const Indices& i) {
    Indices all;
    detail::Access::append(all, step);
    for (int e = 0; e < i.rank(); ++e) detail::Access::append(all, i[e]);
    return all;
  };
  Sorted s;
  s.network = recur(
      "sort_network", Shape::of(extents, where), Along{0}, Lag{1},
      [&](Indices all) {
        const Indices i = all.drop(0);
        const Expr key = sorting_key(x(i, where));
        return select(i[d] < n, ((descending ? -1 - key : key) << 32) | i64(i[d]), highest(i64));
      },
      [&](const Prior& before, Indices all) {
        const Indices i = all.drop(0);
        const Expr last = all[0] - 1, number = i32(i[d]), other = number ^ strides(all[0]);
        const Expr own = before(at_step(last, i), where),
                   partner = before(at_step(last, i.with(d, other & (power - 1))), where);
        const Expr up = (number & blocks(all[0])) == 0, first = (number & strides(all[0])) == 0;
        return select(up == first, min(own, partner), max(own, partner));
      },
      where);
  s.index = compute(
      "sort_index", x.shape(where),
      [&](Indices i) { return s.network(at_step(ir::index(steps - 1), i), where) & (longest_network - 1); }, where);
  return s;
}

}  // namespace

Sorted sort(const Tensor& x, int axis, bool descending, SortBy by, Where where) {
  detail::expect(!x.type(where).is_bool(), "sort", "x of numbers", "bool", where);
  const int d = detail::dimension("sort", axis, x.rank(where), where);
  Sorted s = by == SortBy::network ? by_network(x, d, descending, where) : by_counting(x, d, descending, where);
  const Expr n = x.extent(d, where);
  s.result =
      compute("sort", x.shape(where), [&](Indices i) { return x(i.with(d, in_range(s.index(i, where), 0, n)), where); }, where);
  return s;
}
Tensor argsort(const Tensor& x, int axis, bool descending, SortBy by, Where where) {
  return sort(x, axis, descending, by, where).index;
}

TopK topk(const Tensor& x, int k, int axis, bool largest, Type index_type, Where where) {
  const Type type = x.type(where);
  detail::expect(!type.is_bool() && type.bits <= 32, "topk", "x of numbers of at most 32 bits", ir::text(type), where);
  detail::expect(k >= 1, "topk", "k of at least 1", std::to_string(k), where);
  detail::expect(index_type.is_data_integer() && index_type.bits >= 32, "topk", "places of i32, u32, i64 or u64",
                 ir::text(index_type), where);
  const int d = detail::dimension("topk", axis, x.rank(where), where);
  const std::int64_t n = detail::number_or(x.extent(d, where), k);
  detail::expect(n >= k, "topk", "x whose dimension " + std::to_string(d) + " has at least " + std::to_string(k) + " elements",
                 std::to_string(n), where);
  TopK t;
  t.words = compute(
      "topk_words", x.shape(where),
      [&](Indices i) {
        const Expr key = sorting_key(x(i, where));
        return ((largest ? key : -1 - key) << 32) | i64(0x7fffffff - i[d]);
      },
      where);
  const Axis j{"j", Operand(x.extent(d, where), where), where};
  const Shape row = x.shape(where).drop(d, where);
  for (int r = 0; r < k; ++r)
    t.found.push_back(compute(
        "topk_found", row,
        [&](Indices i) {
          Indices at;  // of the element j
          for (int e = 0; e < i.rank() + 1; ++e) detail::Access::append(at, e < d ? i[e] : e == d ? Expr(j) : i[e - 1]);
          const Expr w = t.words(at, where);
          return ashlar::maximum(r == 0 ? w : select(w < t.found.back()(i, where), w, lowest(i64)), j, where);
        },
        where));
  auto [values_, places] = compute(
      "topk", x.shape(where).with(d, k, where),
      [&](Indices i) {
        const Indices at = i.drop(d);
        Expr w = t.found[0](at, where);
        for (int b = 1; b < k; ++b) w = select(i[d] == b, t.found[static_cast<std::size_t>(b)](at, where), w);
        const Expr key = w >> 32;
        return values(element_of_key(largest ? key : -1 - key, type), index_type(0x7fffffff - i32(w & 0x7fffffff)));
      },
      where);
  t.result = values_, t.index = places;
  return t;
}

namespace {

Tensor cumulative(const char* op, const Tensor& x, int axis, const CumulativeOptions& o, Combine combine, Type wide,
                  Where where) {
  const int d = detail::dimension(op, axis, x.rank(where), where);
  return scan(
      op, x.shape(where), o.reverse ? Along(d).backwards() : Along(d), combine, [&](Indices i) { return wide(x(i, where)); },
      o.exclusive ? Scan::exclusive : Scan::inclusive, where);
}
}  // namespace

Cumulative cumsum(const Tensor& x, int axis, const CumulativeOptions& o, Where where) {
  const Type type = x.type(where);
  const Tensor all = cumulative("cumsum", x, axis, o, Combine::add, accumulator(type), where);
  return {all, type.is_float() ? detail::converted("cumsum", all, type, where) : all};
}
Cumulative cumprod(const Tensor& x, int axis, const CumulativeOptions& o, Where where) {
  const Type type = x.type(where);
  const Tensor all = cumulative("cumprod", x, axis, o, Combine::multiply, accumulator(type), where);
  return {all, type.is_float() ? detail::converted("cumprod", all, type, where) : all};
}
Tensor cummax(const Tensor& x, int axis, const CumulativeOptions& o, Where where) {
  return cumulative("cummax", x, axis, o, Combine::max, x.type(where), where);
}
Tensor cummin(const Tensor& x, int axis, const CumulativeOptions& o, Where where) {
  return cumulative("cummin", x, axis, o, Combine::min, x.type(where), where);
}

}  // namespace ashlar::ops
