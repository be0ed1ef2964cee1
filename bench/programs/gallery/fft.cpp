// gallery/fft.cpp: Fourier transforms of 64 points each, by butterflies of two (apps/gallery/fft.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  constexpr int bits = 6, n = 1 << bits, half = n / 2;
  const Symbol M = p.size("M", 871);
  Tensor a = p.in("re", f32, {M, n}, uniform(-1, 1)), b = p.in("im", f32, {M, n}, uniform(-1, 1));
  for (int s = 0; s < bits; ++s) {
    const int block = 1 << s;
    auto [x, y] = compute("butterflies", {M, n}, [&](Var m, Var v) {
      const Expr r = v % block, e = v / block % 2, q = v / (2 * block), at = q * block + r;
      const Expr angle = f32(r) * static_cast<float>(-3.14159265358979323846 / block);
      const Expr c = cos(angle), d = sin(angle), re = a(m, at + half), im = b(m, at + half);
      const Expr x_part = c * re - d * im, y_part = c * im + d * re;
      return values(select(e == 0, a(m, at) + x_part, a(m, at) - x_part), select(e == 0, b(m, at) + y_part, b(m, at) - y_part));
    });
    a = x, b = y;
  }
  p.out(a), p.out(b);
}
