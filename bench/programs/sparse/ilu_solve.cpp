// sparse/ilu_solve.cpp: an incomplete factorization applied to a vector: a sparse lower triangle with ones on its diagonal, row
// after row, then an upper one from the last row to the first.
#include "bench/programs/program.h"

namespace {
struct Triangle {
  std::vector<std::int32_t> first{0}, col;
};
Triangle triangle(std::int64_t rows, bool upper,
                  std::uint64_t seed) {  // up to 12 entries of a row, at most 400 from the diagonal
  std::mt19937_64 random(seed);
  Triangle t;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t room = std::min<std::int64_t>(upper ? rows - 1 - i : i, 400);
    for (std::uint64_t k = random() % 13; k > 0 && room > 0; --k) {
      const std::int64_t away = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(room));
      t.col.push_back(static_cast<std::int32_t>(upper ? i + away : i - away));
    }
    t.first.push_back(static_cast<std::int32_t>(t.col.size()));
  }
  return t;
}
}  // namespace

PROGRAM(p) {
  const Triangle below = triangle(7013, false, 31), above = triangle(7013, true, 37);
  const Symbol N = p.size("N", 7013, {.min = 1});
  const Symbol ZL = p.size("ZL", static_cast<std::int64_t>(below.col.size())),
               ZU = p.size("ZU", static_cast<std::int64_t>(above.col.size()));
  const Tensor lower_first = p.in("lower_first", i32, {N + 1}, numbers(below.first)),
               lower_col = p.in("lower_col", i32, {ZL}, numbers(below.col)),
               lower = p.in("lower", f64, {ZL}, uniform(-0.2, 0.2));
  const Tensor upper_first = p.in("upper_first", i32, {N + 1}, numbers(above.first)),
               upper_col = p.in("upper_col", i32, {ZU}, numbers(above.col)),
               upper = p.in("upper", f64, {ZU}, uniform(-0.2, 0.2));
  const Tensor diagonal = p.in("diagonal", f64, {N}, uniform(1, 2)), b = p.in("b", f64, {N}, uniform(-1, 1));

  const Tensor z = recur(
      "z", {N}, Along{0}, Lag{0}, [&](Var) { return f64(0); },
      [&](Prior y, Var i) {
        const Axis e{"e", in_range(lower_first(i), 0, ZL + 1), in_range(lower_first(i + 1), 0, ZL + 1)};
        return b(i) - sum(lower(e) * y(in_range(lower_col(e), 0, i)), e);
      });
  p.out(recur(
      "x", {N}, Along{0}.backwards(), Lag{0}, [&](Var) { return f64(0); },
      [&](Prior y, Var i) {
        const Axis e{"e", in_range(upper_first(i), 0, ZU + 1), in_range(upper_first(i + 1), 0, ZU + 1)};
        return (z(i) - sum(upper(e) * y(in_range(upper_col(e), i + 1, N)), e)) / diagonal(i);
      }));
}
