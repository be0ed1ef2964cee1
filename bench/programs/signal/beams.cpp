// signal/beams.cpp: delay and sum: twelve microphones heard in many directions, each by its own delays, which are not whole
// samples; the energy of every block as a share of the loudest direction's, and smoothed from block to block.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol beams = p.size("beams", 19, {.min = 1}), blocks = p.size("blocks", 61, {.min = 1});
  const Tensor x = p.in("x", f32, {12, 64 + blocks * 96}, uniform(-1, 1));
  const Tensor delay = p.in("delay", f32, {beams, 12}, uniform(0, 61)), weight = p.in("weight", f32, {12}, uniform(0.05, 0.2));
  const Axis m{"m", 12}, s{"s", 96}, d{"d", beams};
  const Tensor beam = compute("beam", {beams, blocks * 96}, [&](Var b, Var t) {
    const Expr late = clamp(delay(b, m), 0.f, 62.f), whole = i32(late), part = late - f32(whole);
    const Expr heard = (1 - part) * x(m, t + 64 - whole) + part * x(m, t + 63 - whole);
    return sum(weight(m) * heard, m);
  });
  const Tensor energy =
      compute("energy", {beams, blocks}, [&](Var b, Var n) { return sum(beam(b, n * 96 + s) * beam(b, n * 96 + s), s); });
  const Tensor loudest = compute("loudest", {blocks}, [&](Var n) { return maximum(energy(d, n), d); });
  p.out(compute("share", {beams, blocks}, [&](Var b, Var n) { return energy(b, n) / (loudest(n) + 1e-6f); }));
  p.out(recur(
      "slow", {beams, blocks}, Along{1}, Lag{1}, [&](Var b, Var n) { return energy(b, n); },
      [&](Prior y, Var b, Var n) { return 0.8f * y(b, n - 1) + 0.2f * energy(b, n); }));
}
