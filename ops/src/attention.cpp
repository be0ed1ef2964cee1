// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/attention_keys.h>

#include <cmath>
#include <limits>

namespace ashlar::ops {

namespace {

using namespace detail;

struct Attending {
  const Tensor &q, &k, &v, &mask;
  const AttentionOptions& o;
  SeenKeys range = {};
  Type type, wide;
  Expr B, heads, M, N, D, E;
  Where where;

  Attending(const char* op, const Tensor& q_, const Tensor& k_, const Tensor& v_, const Tensor& mask_,
            const AttentionOptions& o_, Where w)
      : q(q_), k(k_), v(v_), mask(mask_), o(o_), type(q_.type(w)), wide(accumulator(type)), where(w) {
    expect_float(op, "q", q, where);
    expect_same_type(op, "q", q, "k", k, where);
    expect_same_type(op, "q", q, "v", v, where);
    for (const auto& [name, t] : {std::pair{"q", &q}, {"k", &k}, {"v", &v}}) expect_rank(op, name, *t, 4, where);
    expect(o.groups >= 1, op, "groups of at least 1", std::to_string(o.groups), where);
    expect(o.window >= 0 && (o.window == 0 || o.causal != Causal::no), op, "a window of at least 0, of causal attention",
           std::to_string(o.window), where);
    B = q.extent(0, where), heads = q.extent(1, where), M = q.extent(2, where), D = q.extent(3, where);
    const Expr H = k.extent(1, where);
    N = k.extent(2, where), E = v.extent(3, where);
    expect_shape(op, "k", k, {B, H, N, D}, "as q has, with heads of its own", where);
    expect_shape(op, "v", v, {B, H, N, E}, "as k has", where);
    expect_extent(op, "q", q, 1, plain(H * o.groups), "the heads of k and its groups", where);
    if (!mask.empty()) {
      expect(mask.type(where).is_bool() || mask.type(where) == type, op, "mask of bool, or of the type of q",
             ir::text(mask.type(where)), where);
      expect_rank(op, "mask", mask, 2, where);
      expect_shape(op, "mask", mask, {M, N}, "the queries and keys", where);
    }
  }
  void see(const char* op, const SeenKeys& seen) {
    for (const auto& [name, t] : {std::pair{"begins", &seen.begins}, {"ends", &seen.ends}}) {
      if (t->empty()) continue;
      expect_integer(op, name, *t, where);
      if (t->rank(where) == 1)
        expect_shape(op, name, *t, {B}, "the batches", where);
      else
        expect_shape(op, name, *t, {B, M}, "the batches and queries", where);
    }
    const bool each = !seen.ends.empty() && seen.ends.rank(where) == 2;
    expect(!each || o.causal != Causal::last, op, "ends of shape [B], for Causal::last", "ends of each query", where);
    range = seen;
  }
  Expr limit(const Tensor& of, const Expr& b, const Expr& i) const { return of.rank(where) == 1 ? of(b) : of(b, i); }
  Expr head(const Expr& h) const { return o.groups == 1 ? h : h / o.groups; }
  Expr scaled(const Expr& score) const {
    if (o.scale != 0) return score * o.scale;
    const std::int64_t d = number_or(D, 0);
    return d > 0 ? score * reciprocal_root(static_cast<double>(d)) : score * ashlar::rsqrt(wide(D));
  }
  // exp(score - m) as 2^((score - m) log2 e), approximated. m is the maximum of `value`. If the score is a product with a scale
  // that is not negative, without an added mask, `value` is the product alone, and the scale and log2 e become one factor.
  // Otherwise `value` is the score times log2 e.
  static constexpr double log2_e = 1.44269504088896340736;
  bool scale_alone() const { return o.scale >= 0 && (mask.empty() || mask.type(where).is_bool()); }
  Expr factor() const {
    if (o.scale != 0) return wide(o.scale * log2_e);
    const std::int64_t d = number_or(D, 0);
    return d > 0 ? wide(log2_e / std::sqrt(static_cast<double>(d))) : ashlar::rsqrt(wide(D)) * log2_e;
  }
  Expr value(const Expr& score, const Expr& i, const Expr& j) const {
    if (scale_alone()) return score;
    const Expr own = score * factor();
    return mask.empty() || mask.type(where).is_bool() ? own : ashlar::fma(wide(mask(i, j)), wide(log2_e), own);
  }
  Expr power(const Expr& value, const Expr& m) const {
    const Expr exponent = scale_alone() ? ashlar::fma(value, factor(), -(m * factor())) : value - m;
    return ashlar::approximate(ashlar::exp2(exponent));
  }
  // Does query i see key j? Empty: always.
  Expr sees(const Expr& b, const Expr& i, const Expr& j) const {
    Expr seen;
    const auto also = [&](const Expr& c) { seen = seen.empty() ? c : seen && c; };
    if (o.causal != Causal::no) {
      const Expr all = range.ends.empty() ? N : Expr(limit(range.ends, b, i));
      const Expr last = o.causal == Causal::first ? i : i + (all - M);
      also(j <= last);
      if (o.window > 0) also(j > last - o.window);
    }
    if (!range.begins.empty()) also(j >= limit(range.begins, b, i));
    if (!range.ends.empty()) also(j < limit(range.ends, b, i));
    if (!mask.empty() && mask.type(where).is_bool()) also(mask(i, j));
    return seen;
  }
  Expr masked(const Expr& score, const Expr& i, const Expr& j) const {
    return mask.empty() || mask.type(where).is_bool() ? score : score + wide(mask(i, j));
  }
  template <class T>
  Expr if_seen(const Expr& b, const Expr& i, const Expr& j, const Expr& then, const T& otherwise) const {
    const Expr seen = sees(b, i, j);
    return seen.empty() ? then : select(seen, then, otherwise);
  }
  Tensor scores(const char* op) const {
    const Axis d{"d", Operand(D, where), where};
    const Tensor dot = compute(
        op, {{"b", B}, {"h", heads}, {"i", M}, {"j", N}},
        [&](Var b, Var h, Var i, Var j) { return ashlar::sum(wide(q(b, h, i, d)) * wide(k(b, head(h), j, d)), d, where); },
        where);
    return dot;
  }
};

}  // namespace

namespace {

Attention attention_of(const Attending& a) {
  const AttentionOptions& o = a.o;
  const Tensor& v = a.v;
  const Where where = a.where;
  const Axis j{"j", Operand(a.N, where), where};
  Attention y;
  y.scores = a.scores("attention_scores");
  const auto score = [&](const Expr& b, const Expr& h, const Expr& i, const Expr& key) {
    const Expr dot = y.scores(b, h, i, key);
    return o.approximate ? a.value(dot, i, key) : a.masked(a.scaled(dot), i, key);
  };
  y.maximum = compute(
      "attention_maximum", {{"b", a.B}, {"h", a.heads}, {"i", a.M}},
      [&](Var b, Var h, Var i) { return ashlar::maximum(a.if_seen(b, i, j, score(b, h, i, j), lowest(a.wide)), j, where); },
      where);
  y.exp = compute(
      "attention_exp", {{"b", a.B}, {"h", a.heads}, {"i", a.M}, {"j", a.N}},
      [&](Var b, Var h, Var i, Var key) {
        const Expr m = y.maximum(b, h, i);  // of a mask that adds minus infinity everywhere too: such keys are not seen
        const Expr base = select(m == lowest(a.wide), a.wide(0), m), own = score(b, h, i, key);
        return a.if_seen(b, i, key, o.approximate ? a.power(own, base) : ashlar::exp(own - base), a.wide(0));
      },
      where);
  y.sum = compute(
      "attention_sum", {{"b", a.B}, {"h", a.heads}, {"i", a.M}},
      [&](Var b, Var h, Var i) { return ashlar::sum(y.exp(b, h, i, j), j, where); }, where);
  y.weighted = compute(
      "attention_weighted", {{"b", a.B}, {"h", a.heads}, {"i", a.M}, {"e", a.E}},
      [&](Var b, Var h, Var i, Var e) {
        const Expr weight = y.exp(b, h, i, j);
        const Expr factor = o.rounded ? a.wide(a.type(weight)) : weight, term = factor * a.wide(v(b, a.head(h), j, e));
        // The weight of a key that is not seen is 0, and v does not matter there.
        const bool all = o.finite || a.sees(b, i, j).empty();
        return ashlar::sum(all ? term : select(factor == 0, a.wide(0), term), j, where);
      },
      where);
  y.result = compute(
      "attention", {{"b", a.B}, {"h", a.heads}, {"i", a.M}, {"e", a.E}},
      [&](Var b, Var h, Var i, Var e) {
        const Expr total = y.sum(b, h, i);
        return a.type(select(total == 0, a.wide(0), y.weighted(b, h, i, e) / total));
      },
      where);
  return y;
}

}  // namespace

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const Tensor& mask,
                    Where where) {
  return attention_of(Attending("attention", q, k, v, mask, o, where));
}

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const SeenKeys& seen,
                    Where where) {
  const Tensor none;
  Attending a("attention", q, k, v, none, o, where);
  a.see("attention", seen);
  return attention_of(a);
}

SeenKeys packed_keys(const Tensor& offsets, const Expr& T, Where where) {
  expect_rank("packed_keys", "offsets", offsets, 1, where);
  expect_integer("packed_keys", "offsets", offsets, where);
  const Axis s{"s", Operand(offsets.extent(0, where), where), where};
  SeenKeys y;
  y.begins = compute(
      "packed_begins", {{"b", 1}, {"t", T}},
      [&](Var, Var t) { return ashlar::maximum(select(i32(offsets(s)) <= i32(t), i32(offsets(s)), i32(0)), s, where); }, where);
  y.ends = compute(
      "packed_ends", {{"b", 1}, {"t", T}},
      [&](Var, Var t) { return ashlar::minimum(select(i32(offsets(s)) > i32(t), i32(offsets(s)), i32(T)), s, where); }, where);
  return y;
}

Tensor paged(const Tensor& pages, const Tensor& table, Where where) {
  expect_rank("paged", "pages", pages, 4, where);
  expect_rank("paged", "table", table, 2, where);
  expect_integer("paged", "table", table, where);
  const Expr count = pages.extent(0, where), S = pages.extent(2, where);
  expect(number_or(S, 0) > 0, "paged", "pages with a number of rows", ir::text(S), where);
  return compute(
      "paged",
      {{"b", table.extent(0, where)},
       {"h", pages.extent(1, where)},
       {"j", table.extent(1, where) * S},
       {"d", pages.extent(3, where)}},
      [&](Var b, Var h, Var j, Var d) {
        return pages(ashlar::clamp(table(b, in_range(j / S, 0, table.extent(1))), 0, count - 1), h, j % S, d);
      },
      where);
}

OnlineAttention attention_online(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o,
                                 const Tensor& mask, Where where) {
  const Attending a("attention_online", q, k, v, mask, o, where);
  for (const auto& [name, set] : {std::pair{"rounded", o.rounded}, {"approximate", o.approximate}})
    expect(!set, "attention_online", "options that it has", std::string(name) + ", of `attention`", where);
  const double least =
      a.wide == f64 ? -std::numeric_limits<double>::max() : static_cast<double>(-std::numeric_limits<float>::max());
  const auto online = reducer(
      "online_attention", {a.wide, a.wide, a.wide}, {least, 0, 0},
      [](Values<3> p, Values<3> r) {
        const Expr m = max(p[0], r[0]), ep = ashlar::exp(p[0] - m), er = ashlar::exp(r[0] - m);
        return values(m, p[1] * ep + r[1] * er, p[2] * ep + r[2] * er);
      },
      Order::any, where);
  const Axis j{"j", Operand(a.N, where), where};
  OnlineAttention y;
  y.scores = a.scores("attention_scores");
  auto [m, s, w] = compute(
      "attention_online", {{"b", a.B}, {"h", a.heads}, {"i", a.M}, {"e", a.E}},
      [&](Var b, Var h, Var i, Var e) {
        const Expr score = a.masked(a.scaled(y.scores(b, h, i, j)), i, j), none = a.wide(least);
        return online(values(a.if_seen(b, i, j, ashlar::max(score, none), none),
                             a.if_seen(b, i, j, select(score <= none, a.wide(0), a.wide(1)), a.wide(0)),
                             a.if_seen(b, i, j, select(score <= none, a.wide(0), a.wide(v(b, a.head(h), j, e))), a.wide(0))),
                      j, where);
      },
      where);
  y.maximum = m, y.sum = s, y.weighted = w;
  y.result = compute(
      "attention", {{"b", a.B}, {"h", a.heads}, {"i", a.M}, {"e", a.E}},
      [&](Var b, Var h, Var i, Var e) {
        const Expr total = y.sum(b, h, i, e);
        return a.type(select(total == 0, a.wide(0), y.weighted(b, h, i, e) / total));
      },
      where);
  return y;
}

RotaryTables rotary_tables(const Tensor& positions, int D, double base, Where where) {
  detail::expect_rank("rotary_tables", "positions", positions, 1, where);
  detail::expect_integer("rotary_tables", "positions", positions, where);
  detail::expect(D >= 2 && D % 2 == 0, "rotary_tables", "an even D of at least 2", std::to_string(D), where);
  const std::vector<double> rates = detail::rotary_rates(D, base);
  const Tensor rate = constant("rates", f32, {static_cast<std::int64_t>(rates.size())}, rates, where);
  auto [c, s] = compute(
      "rotary_tables", {{"t", positions.extent(0, where)}, {"p", D / 2}},
      [&](Var t, Var p) {
        const Expr angle = f32(positions(t)) * rate(p);
        return values(ashlar::cos(angle), ashlar::sin(angle));
      },
      where);
  return {c, s};
}
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved, Where where) {
  const char* op = "rotary_embedding";
  detail::expect_float(op, "x", x, where);
  detail::expect_rank_from(op, "x", x, 2, where);
  const int last = x.rank(where) - 1;
  detail::expect_rank(op, "cos", cos, 2, where);
  const std::int64_t half = detail::number_or(cos.extent(1, where), 0), D = detail::number_or(x.extent(last, where), 0);
  detail::expect(half > 0 && D >= 2 * half, op, "x whose last dimension is a number of at least twice the columns of cos",
                 ir::text(x.extent(last, where)), where);
  detail::expect_extent(op, "cos", cos, 0, x.extent(last - 1, where), "the rows of x", where);
  detail::expect_shape(op, "sin", sin, detail::extents(cos, where), "as cos has", where);
  detail::expect_same_type(op, "cos", cos, "sin", sin, where);
  const Type type = x.type(where), wide = accumulator(type);
  return compute(
      op, x.shape(where),
      [&](Indices i) {
        const Expr d = i[last], p = ashlar::min(interleaved ? d / 2 : d % half, half - 1);
        const Expr second = interleaved ? d % 2 == 1 : d >= half;
        const Expr partner =
            interleaved ? d + select(d % 2 == 1, Expr(std::int64_t{-1}), Expr(std::int64_t{1})) : (d + half) % (2 * half);
        const Expr other = wide(x(i.with(last, ashlar::clamp(partner, 0, D - 1)), where)), own = wide(x(i, where));
        const Expr c = wide(cos(i[last - 1], p)), s = wide(sin(i[last - 1], p));
        const Expr turned = own * c + select(second, other, -other) * s;
        return type(D == 2 * half ? turned : select(d < 2 * half, turned, own));
      },
      where);
}

}  // namespace ashlar::ops
