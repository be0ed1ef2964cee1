// linear/tetrahedra.cpp: the slope of a field on a mesh of tetrahedra: a system of three equations for each, solved by
// cofactors, then at each node the mean of its tetrahedra, weighted by their volumes.
#include <algorithm>
#include <array>

#include "bench/programs/program.h"

namespace {
constexpr int side = 13;  // cubes a side, each cut into six tetrahedra

std::vector<double> places() {
  std::mt19937_64 engine(3);
  std::vector<double> at;
  for (int z = 0; z <= side; ++z)
    for (int y = 0; y <= side; ++y)
      for (int x = 0; x <= side; ++x)
        for (const int c : {x, y, z}) at.push_back(c + static_cast<double>(engine() >> 40) * 0x1p-24 * 0.2);
  return at;
}

std::vector<int> corners() {
  const std::array<int, 3> step{1, side + 1, (side + 1) * (side + 1)};
  std::vector<int> all;
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        std::array<int, 3> order{0, 1, 2};
        do {
          int node = x + y * step[1] + z * step[2];
          all.push_back(node);
          for (const int d : order) all.push_back(node += step[d]);
        } while (std::next_permutation(order.begin(), order.end()));
      }
  return all;
}
}  // namespace

PROGRAM(p) {
  const Symbol nodes = p.size("nodes", (side + 1) * (side + 1) * (side + 1), {.min = 1}),
               elements = p.size("elements", side * side * side * 6);
  const Tensor at = p.in("at", f64, {nodes, 3}, numbers(places())), u = p.in("u", f64, {nodes}, uniform(-1, 1));
  const Tensor corner = p.in("corner", i32, {elements, 4}, numbers(corners()));
  const auto node = [&](const Expr& e, const Expr& c) { return in_range(corner(e, c), 0, nodes); };
  const auto first = [&](const Expr& e) { return in_range(corner(e, 0), 0, nodes); };

  const Tensor edge =
      compute("edge", {elements, 3, 3}, [&](Var e, Var i, Var d) { return at(node(e, i + 1), d) - at(first(e), d); });
  const Tensor cofactor = compute("cofactor", {elements, 3, 3}, [&](Var e, Var i, Var d) {
    const auto m = [&](int r, int c) { return edge(e, (i + r) % 3, (d + c) % 3); };
    return m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1);
  });
  const Axis i{"i", 3}, k{"k", 3};
  const Tensor determinant =
      compute("determinant", {elements}, [&](Var e) { return sum(edge(e, 0, k) * cofactor(e, 0, k), k); });
  const Tensor volume = compute("volume", {elements}, [&](Var e) { return abs(determinant(e)) / 6; });
  const Tensor solved = compute("solved", {elements, 3},
                                [&](Var e, Var d) { return sum(cofactor(e, i, d) * (u(node(e, i + 1)) - u(first(e))), i); });
  const Tensor total =
      scatter("total", {nodes, 3}, Combine::add, 0.0, {{"e", elements}, {"c", 4}, {"d", 3}},
              [&](Var e, Var c, Var d) { return put(solved(e, d) / determinant(e) * volume(e), node(e, c), d); });
  const Tensor weight = scatter("weight", {nodes}, Combine::add, 0.0, {{"e", elements}, {"c", 4}},
                                [&](Var e, Var c) { return put(volume(e), node(e, c)); });
  p.out(compute("slope", {nodes, 3}, [&](Var n, Var d) { return total(n, d) / weight(n); }));
}
