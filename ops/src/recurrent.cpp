// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/recurrent.h>

namespace ashlar::ops {

namespace {

using namespace detail;

void expect_weights(const char* op, const Tensor& x, const Tensor& W, const Tensor& U, int gates, Where where) {
  expect_float(op, "x", x, where);
  expect_rank_from(op, "x", x, 2, where);
  expect_same_type(op, "x", x, "W", W, where);
  expect_same_type(op, "x", x, "U", U, where);
  expect_rank(op, "W", W, 3, where);
  const Expr H = W.extent(2, where), G = ir::index(gates);
  expect_shape(op, "W", W, {x.extent(x.rank(where) - 1, where), G, H}, "the columns of x and the gates", where);
  expect_shape(op, "U", U, {H, G, H}, "the units and the gates", where);
}
void expect_bias(const char* op, const char* name, const Tensor& b, const Tensor& W, Where where) {
  expect_beside(op, name, b, W.type(where), where);
  if (!b.empty()) expect_shape(op, name, b, {W.extent(1, where), W.extent(2, where)}, "the gates and units", where);
}
// x W + b at each point of x but its last dimension: [..., G, H].
Tensor gates_of(const char* name, const Tensor& x, const Tensor& W, const Tensor& b, Type wide, Where where) {
  const int last = x.rank(where) - 1;
  const Axis i{"i", Operand(x.extent(last, where), where), where};
  const Shape shape = x.shape(where).with(last, W.extent(1, where), where).with(last + 1, W.extent(2, where), where);
  return compute(
      name, shape,
      [&](Indices at) {
        const Expr g = at[last], j = at[last + 1];
        const Reduction<> total = ashlar::sum(wide(x(at.drop(last + 1).with(last, i), where)) * wide(W(i, g, j)), i, where);
        return b.empty() ? total : total.from(Operand(wide(b(g, j)), where));
      },
      where);
}
// What all units of a sequence share: x is [T, ..., I], and the state before and after each step [T + 1, ..., H].
struct Sequence {
  Type type, wide;
  int last;
  Expr T, H;
  Axis k;
  Shape state;
};
Sequence sequence(const Tensor& x, const Tensor& W, Where where) {
  const Type type = x.type(where);
  const int last = x.rank(where) - 1;
  const Expr T = x.extent(0, where), H = W.extent(2, where);
  return {type,
          accumulator(type),
          last,
          T,
          H,
          Axis("k", Operand(H, where), where),
          x.shape(where).with(0, T + 1, where).with(last, H, where)};
}

}  // namespace

LstmCell lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& W, const Tensor& U, const Tensor& b,
                   Where where) {
  detail::expect_rank("lstm_cell", "x", x, 2, where);
  expect_weights("lstm_cell", x, W, U, 4, where);
  expect_bias("lstm_cell", "b", b, W, where);
  const Expr B = x.extent(0, where), H = W.extent(2, where);
  detail::expect_same_type("lstm_cell", "x", x, "h", h, where);
  detail::expect_same_type("lstm_cell", "x", x, "c", c, where);
  detail::expect_shape("lstm_cell", "h", h, {B, H}, "the rows of x and the units", where);
  detail::expect_shape("lstm_cell", "c", c, {B, H}, "the rows of x and the units", where);
  const Type type = x.type(where), wide = accumulator(type);
  LstmCell s;
  s.xw = gates_of("lstm_xw", x, W, b, wide, where);
  const Axis k{"k", Operand(H, where), where};
  s.gates = compute(
      "lstm_gates", {{"b", B}, {"g", 4}, {"j", H}},
      [&](Var n, Var g, Var j) { return sum(wide(h(n, k)) * wide(U(k, g, j)), k, where).from(s.xw(n, g, j)); }, where);
  auto [cell, hidden] = compute(
      "lstm_cell", {{"b", B}, {"j", H}},
      [&](Var n, Var j) {
        const auto next = detail::lstm_step(wide(c(n, j)), [&](int g) { return s.gates(n, g, j); });
        return values(type(next.cell), type(next.hidden));
      },
      where);
  s.cell = cell, s.result = hidden;
  return s;
}

Lstm lstm(const Tensor& x, const Tensor& W, const Tensor& U, const Tensor& b, Where where) {
  expect_weights("lstm", x, W, U, 4, where);
  expect_bias("lstm", "b", b, W, where);
  const auto [type, wide, last, T, H, k, state] = sequence(x, W, where);
  Lstm s;
  s.xw = gates_of("lstm_xw", x, W, b, wide, where);
  auto [c, h] = recur(
      "lstm_state", state, Along{0}, Lag{1}, [&](Indices) { return values(wide(0), wide(0)); },
      [&](const Prior& before, Indices i) {
        s.gates = compute(
            "lstm_gates", s.xw.shape(where).with(0, Range{ir::index(1), T + 1}, where),
            [&](Indices at) {
              const Indices earlier = at.with(0, at[0] - 1);
              return sum(before[1](earlier.drop(last + 1).with(last, k), where) * wide(U(k, at[last], at[last + 1])), k, where)
                  .from(s.xw(earlier, where));
            },
            where);
        const auto next = detail::lstm_step(before[0](i.with(0, i[0] - 1), where),
                                            [&](int g) { return s.gates(i.with(last, g).with(last + 1, i[last]), where); });
        return values(next.cell, next.hidden);
      },
      where);
  s.cell = c, s.hidden = h;
  s.result = compute(
      "lstm", x.shape(where).with(last, H, where), [&](Indices i) { return type(s.hidden(i.with(0, i[0] + 1), where)); },
      where);
  return s;
}

GruCell gru_cell(const Tensor& x, const Tensor& h, const Tensor& W, const Tensor& U, const Tensor& b, const Tensor& d,
                 Where where) {
  detail::expect_rank("gru_cell", "x", x, 2, where);
  expect_weights("gru_cell", x, W, U, 3, where);
  expect_bias("gru_cell", "b", b, W, where);
  expect_bias("gru_cell", "d", d, W, where);
  const Expr B = x.extent(0, where), H = W.extent(2, where);
  detail::expect_same_type("gru_cell", "x", x, "h", h, where);
  detail::expect_shape("gru_cell", "h", h, {B, H}, "the rows of x and the units", where);
  const Type type = x.type(where), wide = accumulator(type);
  GruCell s;
  s.xw = gates_of("gru_xw", x, W, b, wide, where);
  s.hu = gates_of("gru_hu", h, U, d, wide, where);
  s.result = compute(
      "gru_cell", {{"b", B}, {"j", H}},
      [&](Var n, Var j) {
        return type(
            detail::gru_step(wide(h(n, j)), [&](int g) { return s.xw(n, g, j); }, [&](int g) { return s.hu(n, g, j); }));
      },
      where);
  return s;
}

Gru gru(const Tensor& x, const Tensor& W, const Tensor& U, const Tensor& b, const Tensor& d, Where where) {
  expect_weights("gru", x, W, U, 3, where);
  expect_bias("gru", "b", b, W, where);
  expect_bias("gru", "d", d, W, where);
  const auto [type, wide, last, T, H, k, state] = sequence(x, W, where);
  Gru s;
  s.xw = gates_of("gru_xw", x, W, b, wide, where);
  s.hidden = recur(
      "gru_state", state, Along{0}, Lag{1}, [&](Indices) { return wide(0); },
      [&](const Prior& before, Indices i) {
        s.hu = compute(
            "gru_hu", s.xw.shape(where).with(0, Range{ir::index(1), T + 1}, where),
            [&](Indices at) {
              const Indices earlier = at.with(0, at[0] - 1);
              const Reduction<> total =
                  sum(before(earlier.drop(last + 1).with(last, k), where) * wide(U(k, at[last], at[last + 1])), k, where);
              return d.empty() ? total : total.from(Operand(wide(d(at[last], at[last + 1])), where));
            },
            where);
        const Indices earlier = i.with(0, i[0] - 1);
        return detail::gru_step(
            before(earlier, where), [&](int g) { return s.xw(earlier.with(last, g).with(last + 1, i[last]), where); },
            [&](int g) { return s.hu(i.with(last, g).with(last + 1, i[last]), where); });
      },
      where);
  s.result = compute(
      "gru", x.shape(where).with(last, H, where), [&](Indices i) { return type(s.hidden(i.with(0, i[0] + 1), where)); }, where);
  return s;
}

}  // namespace ashlar::ops
