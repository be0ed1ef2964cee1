// simulation/ising.cpp: magnetic spins on a torus, the black and the white fields of a checkerboard in turns; a spin turns by
// chance, which depends on how many neighbors are aligned with it (Metropolis). Random bits are a hash of time and place.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 22), H = p.size("H", 86, {.min = 2, .multiple_of = 2}),
               W = p.size("W", 114, {.min = 2, .multiple_of = 2});
  const Tensor start = p.in("start", i8, {H, W}, integers(0, 2));
  const Tensor chance =
      p.in("chance", u32, {5}, numbers<double>({4294967295., 4294967295., 2147483648., 726817499., 122997119.}));
  const Tensor spin = recur(
      "spin", {steps + 1, H, W}, Along{0}, Lag{1}, [&](Var, Var y, Var x) { return 2 * start(y, x) - 1; },
      [&](Prior s, Var t, Var y, Var x) {
        const Expr here = s(t - 1, y, x);
        const Expr around =
            s(t - 1, (y - 1) % H, x) + s(t - 1, (y + 1) % H, x) + s(t - 1, y, (x - 1) % W) + s(t - 1, y, (x + 1) % W);
        Expr h = u32((t * H + y) * W + x) * 2654435761u;
        h = (h ^ (h >> 16)) * 0x85ebca6bu;
        h = (h ^ (h >> 13)) * 0xc2b2ae35u;
        h = h ^ (h >> 16);
        const Expr aligned = in_range((here * around + 4) >> 1, 0, 5);
        return select((y + x + t) % 2 == 0 && h < chance(aligned), -here, here);
      });
  const Axis y{"y", H}, x{"x", W};
  p.out(compute("last", {H, W}, [&](Var r, Var c) { return spin(steps, r, c); }));
  p.out(compute("magnetization", {steps + 1}, [&](Var t) { return sum(i32(spin(t, y, x)), {y, x}); }));
}
