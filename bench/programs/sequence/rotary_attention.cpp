// sequence/rotary_attention.cpp: causal attention of heads of 48 dimensions; queries and keys are turned by their positions.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol heads = p.size("heads", 5, {.min = 1}), T = p.size("T", 117, {.min = 1});
  const Tensor q = p.in("q", f32, {heads, T, 48}, uniform(-1, 1)), k = p.in("k", f32, {heads, T, 48}, uniform(-1, 1)),
               v = p.in("v", f32, {heads, T, 48}, uniform(-1, 1));
  const Tensor cosine = p.in("cosine", f32, {T, 24}, uniform(-1, 1)), sine = p.in("sine", f32, {T, 24}, uniform(-1, 1));
  const auto turned = [&](const char* name, const Tensor& x) {
    return compute(name, {heads, T, 48}, [&](Var h, Var t, Var d) {
      return select(d < 24, x(h, t, d) * cosine(t, d) - x(h, t, d + 24) * sine(t, d),
                    x(h, t, d) * cosine(t, d - 24) + x(h, t, d - 24) * sine(t, d - 24));
    });
  };
  const Tensor Q = turned("Q", q), K = turned("K", k);
  const Axis d{"d", 48};
  const Tensor score = compute("score", [&](Var h, Var t, Var s) { return sum(Q(h, t, d) * K(h, s, d), d); });
  const Tensor top = compute("top", {heads, T}, [&](Var h, Var t) {
    const Axis s{"s", t + 1};
    return maximum(score(h, t, s), s);
  });
  const Tensor weight = compute("weight", [&](Var h, Var t, Var s) { return exp((score(h, t, s) - top(h, t)) * 0.14433757f); });
  const Tensor total = compute("total", {heads, T}, [&](Var h, Var t) {
    const Axis s{"s", t + 1};
    return sum(weight(h, t, s), s);
  });
  const Tensor mixed = compute("mixed", {heads, T, 48}, [&](Var h, Var t, Var e) {
    const Axis s{"s", t + 1};
    return sum(weight(h, t, s) * v(h, s, e), s);
  });
  p.out(compute("y", {heads, T, 48}, [&](Var h, Var t, Var e) { return mixed(h, t, e) / total(h, t); }));
}
