// sequence/gru.cpp: a layer of gated recurrent units over a batch of sequences: reset, update and candidate gates of 72 units.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 45, {.min = 1}), batch = p.size("batch", 5, {.min = 1});
  const Tensor x = p.in("x", f32, {steps, batch, 40}, uniform(-1, 1)), W = p.in("W", f32, {40, 3, 72}, uniform(-0.2, 0.2)),
               U = p.in("U", f32, {72, 3, 72}, uniform(-0.2, 0.2));
  const Tensor b = p.in("b", f32, {3, 72}, uniform(-0.5, 0.5)), c = p.in("c", f32, {72}, uniform(-0.5, 0.5)),
               h0 = p.in("h0", f32, {batch, 72}, uniform(-1, 1));
  const Axis i{"i", 40}, k{"k", 72};
  const Tensor fed = compute("fed", {steps, batch, 3, 72},
                             [&](Var t, Var n, Var g, Var j) { return sum(x(t, n, i) * W(i, g, j), i).from(b(g, j)); });
  const Tensor h = recur(
      "h", {steps + 1, batch, 72}, Along{0}, Lag{1}, [&](Var, Var n, Var j) { return h0(n, j); },
      [&](Prior y, Var t, Var n, Var j) {
        const Tensor back = compute("back", {Range{Expr(1), steps + 1}, batch, 3, 72},
                                    [&](Var s, Var m, Var g, Var o) { return sum(y(s - 1, m, k) * U(k, g, o), k); });
        const Expr reset = sigmoid(fed(t - 1, n, 0, j) + back(t, n, 0, j));
        const Expr keep = sigmoid(fed(t - 1, n, 1, j) + back(t, n, 1, j));
        const Expr fresh = tanh(fed(t - 1, n, 2, j) + reset * (back(t, n, 2, j) + c(j)));
        return (1 - keep) * fresh + keep * y(t - 1, n, j);
      });
  p.out(compute("states", {steps, batch, 72}, [&](Var t, Var n, Var j) { return h(t + 1, n, j); }));
}
