// statistics/spearman.cpp: the rank correlation of scores and measurements. A rank is counted, twice over, so that the mean
// rank of equal values is a whole number.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol n = p.size("n", 1409, {.min = 2});
  const Tensor score = p.in("score", i16, {n}, integers(-200, 200)), measured = p.in("measured", f32, {n}, uniform(0, 1));

  const Axis j{"j", n};
  const auto twice_rank = [&](const char* name, const Tensor& x) {
    return compute(name, {n}, [&](Var i) { return sum(i32(x(j) < x(i)) + i32(x(j) <= x(i)), j).from(1); });
  };
  const Tensor x = twice_rank("x", score), y = twice_rank("y", measured);
  const auto product = [&](const char* name, const Tensor& a, const Tensor& b) {
    return compute(name, [&] { return sum(i64(a(j) - (i32(n) + 1)) * i64(b(j) - (i32(n) + 1)), j); });
  };
  const Tensor xx = product("xx", x, x), yy = product("yy", y, y), xy = product("xy", x, y);
  p.out(x);
  p.out(compute("rho", [&] { return f64(xy()) / sqrt(f64(xx()) * f64(yy())); }));
}
