// gallery/sparse.cpp: rows of a sparse matrix by a dense one (apps/gallery/sparse.cpp).
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> offsets(int rows) {
  std::mt19937_64 engine(3);
  std::vector<std::int32_t> first{0};
  for (int r = 0; r < rows; ++r) first.push_back(first.back() + static_cast<std::int32_t>(engine() % 25));
  return first;
}
}  // namespace

PROGRAM(p) {
  const std::vector<std::int32_t> first_of = offsets(2503);
  const Symbol M = p.size("M", 2503), K = p.size("K", 389), N = p.size("N", 45),
               Z = p.size("Z", first_of.back(), {.max = 2147483646});
  const Tensor first = p.in("first", i32, {M + 1}, numbers(first_of)), col = p.in("col", i32, {Z}, integers(0, 389)),
               val = p.in("val", f32, {Z}, uniform(-1, 1)), B = p.in("B", f32, {K, N}, uniform(-1, 1));
  p.out(compute("C", {M, N}, [&](Var i, Var j) {
    const Axis e{"e", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
    return sum(val(e) * B(in_range(col(e), 0, K), j), e);
  }));
}
