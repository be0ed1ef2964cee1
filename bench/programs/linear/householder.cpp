// linear/householder.cpp: a batch of reflections A - 2 v (v^T A) / (v^T v), as a QR step applies them.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol batch = p.size("batch", 24), M = p.size("M", 120), N = p.size("N", 90);
  const Tensor A = p.in("A", f32, {batch, M, N}, uniform(-1, 1)), v = p.in("v", f32, {batch, M}, uniform(0.1, 1));
  const Axis i{"i", M};
  const Tensor square = compute("square", {batch}, [&](Var b) { return sum(v(b, i) * v(b, i), i); });
  const Tensor along = compute("along", {batch, N}, [&](Var b, Var j) { return sum(v(b, i) * A(b, i, j), i); });
  p.out(compute("reflected", {batch, M, N},
                [&](Var b, Var r, Var j) { return A(b, r, j) - 2 * v(b, r) * along(b, j) / square(b); }));
}
