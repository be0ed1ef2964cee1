// linear/gram_schmidt.cpp: the columns of each matrix made orthonormal, one after the other against those before it, and the
// shares that they have in a vector.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol batch = p.size("batch", 11, {.min = 1}), M = p.size("M", 145, {.min = 1}), N = p.size("N", 26, {.min = 1});
  const Tensor A = p.in("A", f32, {batch, M, N}, uniform(-1, 1)), y = p.in("y", f32, {batch, M}, uniform(-1, 1));
  const Axis m{"m", M};
  const Tensor Q = recur(
      "Q", {batch, M, N}, Along{2}, Lag{0}, [&](Var, Var, Var) { return f32(0); },
      [&](Prior q, Var b, Var i, Var j) {
        // along(b, j, k): how much of column j lies along column k, which is before it
        const Tensor along =
            compute("along", {batch, N, N}, [&](Var c, Var s, Var t) { return sum(q(c, m, t) * A(c, m, s), m.where(t < s)); });
        const Tensor rest = compute("rest", {batch, M, N}, [&](Var c, Var r, Var s) {
          const Axis k{"k", s};
          return sum(-q(c, r, k) * along(c, s, k), k).from(A(c, r, s));
        });
        const Tensor square =
            compute("square", {batch, N}, [&](Var c, Var s) { return sum(rest(c, m, s) * rest(c, m, s), m); });
        return rest(b, i, j) / sqrt(square(b, j));
      });
  p.out(Q);
  p.out(compute("share", {batch, N}, [&](Var b, Var j) { return sum(Q(b, m, j) * y(b, m), m); }));
}
