// sparse/edge_attention.cpp: attention along the edges of a graph: a product of sampled rows, softmax over the edges of each
// node, and the weighted sum of what their ends hold. Some nodes have no edges.
#include "bench/programs/program.h"

PROGRAM(p) {
  const std::int64_t count = 2090;
  std::mt19937_64 random(23);
  std::vector<std::int32_t> begins{0}, owners;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t degree = static_cast<std::int32_t>(random() % 9 * (random() % 7));
    begins.push_back(begins.back() + degree);
    owners.insert(owners.end(), static_cast<std::size_t>(degree), static_cast<std::int32_t>(i));
  }
  const Symbol nodes = p.size("nodes", count, {.min = 1}), edges = p.size("edges", begins.back());
  const Tensor first = p.in("first", i32, {nodes + 1}, numbers(begins)), from = p.in("from", i32, {edges}, numbers(owners)),
               to = p.in("to", i32, {edges}, integers(0, count));
  const Tensor query = p.in("query", f32, {nodes, 16}, uniform(-2, 2)), key = p.in("key", f32, {nodes, 16}, uniform(-2, 2)),
               value = p.in("value", f32, {nodes, 24}, uniform(-1, 1));

  const auto edges_of = [&](Var i) {
    return Axis{"e", in_range(first(i), 0, edges + 1), in_range(first(i + 1), 0, edges + 1)};
  };
  const Axis d{"d", 16};
  const Tensor dot = compute(
      "dot", {edges}, [&](Var e) { return sum(query(in_range(from(e), 0, nodes), d) * key(in_range(to(e), 0, nodes), d), d); });
  const Tensor top = compute("top", {nodes}, [&](Var i) {
    const Axis e = edges_of(i);
    return maximum(dot(e), e);
  });
  const Tensor weight =
      compute("weight", {edges}, [&](Var e) { return exp((dot(e) - top(in_range(from(e), 0, nodes))) * 0.25f); });
  const Tensor total = compute("total", {nodes}, [&](Var i) {
    const Axis e = edges_of(i);
    return sum(weight(e), e);
  });
  const Tensor mixed = compute("mixed", {nodes, 24}, [&](Var i, Var c) {
    const Axis e = edges_of(i);
    return sum(weight(e) * value(in_range(to(e), 0, nodes), c), e);
  });
  p.out(compute("out", {nodes, 24}, [&](Var i, Var c) { return select(first(i) < first(i + 1), mixed(i, c) / total(i), 0); }));
}
