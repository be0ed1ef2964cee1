// signal/decimate.cpp: every channel through a filter of 48 taps, every fourth sample kept, then its envelope with slow
// release.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol channels = p.size("channels", 48, {.min = 1}), samples = p.size("samples", 2500);
  const Tensor x = p.in("x", f32, {channels, samples * 4 + 44}, uniform(-1, 1)),
               taps = p.in("taps", f32, {48}, uniform(-0.2, 0.2));
  const Axis k{"k", 48};
  const Tensor kept = compute("kept", {channels, samples}, [&](Var c, Var t) { return sum(x(c, t * 4 + k) * taps(k), k); });
  p.out(recur(
      "envelope", {channels, samples}, Along{1}, Lag{1}, [&](Var c, Var t) { return abs(kept(c, t)); },
      [&](Prior e, Var c, Var t) { return max(abs(kept(c, t)), e(c, t - 1) * 0.995f); }));
}
