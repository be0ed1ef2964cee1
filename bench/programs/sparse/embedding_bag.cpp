// sparse/embedding_bag.cpp: the mean of a bag of rows of a table, bags of different sizes.
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> bags(int count, int entries) {
  std::vector<std::int32_t> at;
  for (int b = 0; b <= count; ++b) at.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(b) * entries / count));
  for (int b = 1; b < count; b += 2) at[static_cast<std::size_t>(b)] += 3;
  return at;
}
}  // namespace

PROGRAM(p) {
  const Symbol count = p.size("count", 500, {.min = 1}), Z = p.size("Z", 6000), rows = p.size("rows", 2000, {.min = 1});
  const Tensor first = p.in("first", i32, {count + 1}, numbers(bags(500, 6000))),
               which = p.in("which", i32, {Z}, integers(0, 2000));
  const Tensor table = p.in("table", f32, {rows, 64}, uniform(-1, 1));
  const Tensor total = compute("total", {count, 64}, [&](Var b, Var d) {
    const Axis e{"e", in_range(first(b), 0, Z + 1), in_range(first(b + 1), 0, Z + 1)};
    return sum(table(in_range(which(e), 0, rows), d), e);
  });
  p.out(compute("mean", {count, 64}, [&](Var b, Var d) { return total(b, d) / f32(max(first(b + 1) - first(b), 1)); }));
}
