// Softmax of the sequences of a ragged batch, which lie behind each other; sequence r has the elements first(r) to
// first(r + 1) - 1.
#include "bench/programs/program.h"

PROGRAM(p) {
  const std::int64_t sequences = 512;
  std::mt19937_64 engine(7);
  std::vector<std::int64_t> first{0};
  for (std::int64_t r = 0; r < sequences; ++r) first.push_back(first.back() + 1 + static_cast<std::int64_t>(engine() % 300));
  std::vector<std::int64_t> owner;
  for (std::int64_t r = 0; r < sequences; ++r) owner.insert(owner.end(), static_cast<std::size_t>(first[r + 1] - first[r]), r);

  const Symbol R = p.size("R", sequences), N = p.size("N", first.back());
  const Tensor start = p.in("start", i32, {R + 1}, numbers(first)), of = p.in("of", i32, {N}, numbers(owner));
  const Tensor x = p.in("x", f32, {N}, uniform(-4, 4));
  const auto elements = [&](Var r) { return Axis{"k", in_range(start(r), 0, N + 1), in_range(start(r + 1), 0, N + 1)}; };
  const Tensor top = compute("top", {R}, [&](Var r) {
    const Axis k = elements(r);
    return maximum(x(k), k);
  });
  const Tensor e = compute("e", {N}, [&](Var i) { return exp(x(i) - top(in_range(of(i), 0, R))); });
  const Tensor total = compute("total", {R}, [&](Var r) {
    const Axis k = elements(r);
    return sum(e(k), k);
  });
  p.out(compute("y", {N}, [&](Var i) { return e(i) / total(in_range(of(i), 0, R)); }));
}
