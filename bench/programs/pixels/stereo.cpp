// pixels/stereo.cpp: two channels at half of their rate, by a filter of 48 taps.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 9001);
  const Tensor x = p.in("x", f32, {2 * N + 47, 2}, uniform(-1, 1)), w = p.in("w", f32, {48}, uniform(-1, 1));
  const Axis k{"k", 48};
  p.out(compute("y", {N, 2}, [&](Var n, Var c) { return sum(w(k) * x(2 * n + k, c), k); }));
}
