// sparse/csr.cpp: a sparse matrix by a vector, the rows of the matrix of different lengths.
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> begins(std::int64_t rows, std::int64_t entries) {
  std::mt19937_64 random(5);
  std::vector<std::int32_t> at{0};
  for (std::int64_t r = 0; r < rows; ++r) at.push_back(at.back() + static_cast<std::int32_t>(random() % 33));
  for (std::int32_t& a : at) a = static_cast<std::int32_t>(a * entries / at.back());
  at.back() = static_cast<std::int32_t>(entries);
  return at;
}
}  // namespace

PROGRAM(p) {
  const Symbol rows = p.size("rows", 8000, {.min = 1}), columns = p.size("columns", 5000, {.min = 1}), Z = p.size("Z", 120000);
  const Tensor first = p.in("first", i32, {rows + 1}, numbers(begins(8000, 120000)));
  const Tensor col = p.in("col", i32, {Z}, integers(0, 5000)), val = p.in("val", f32, {Z}, uniform(-1, 1));
  const Tensor x = p.in("x", f32, {columns}, uniform(-1, 1));
  p.out(compute("y", {rows}, [&](Var i) {
    const Axis e{"e", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
    return sum(val(e) * x(in_range(col(e), 0, columns)), e);
  }));
}
