// Gauss-Seidel sweeps over a grid: each point inside becomes the mean of its four neighbors, two of them of this sweep and two
// of the one before; the edge stays. A sweep is a recurrence, and its points along a diagonal have nothing to do with each
// other:
//
//   u[i, j] = (u[i - 1, j] + u[i, j - 1] + before[i + 1, j] + before[i, j + 1]) / 4
//
// Tiles along a diagonal are computed at once, and inside a tile the points along one, a row each, so that none waits for the
// sum of another (Lamport, The parallel execution of DO loops, 1974; Wolfe, Loops skewing, 1986).
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class GaussSeidel : public Generator {
 public:
  Param<int> sweeps{"sweeps", 1, between(1, 16), "sweeps over the grid"};
  Param<int> rows{"rows", 4, between(1, 16), "of a tile"}, columns{"columns", 256, between(8, 1024), "of a tile"};
  Param<bool> skewed{"skewed", true, "wavefronts; else the points in their order"};
  Symbol M{"M"}, N{"N"};
  Input grid{"grid", f32, {M, N}};
  Output out{"out", f32, {M, N}};
  std::vector<Tensor> states;

  void algorithm() override {
    Tensor before = grid;
    for (int k = 0; k < *sweeps; ++k) {
      const Tensor old = before;
      before = recur(
          "u", {{"i", M}, {"j", N}}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return old(i, j); },
          [&](Prior u, Var i, Var j) {
            const auto mean = [&] { return (u(i - 1, j) + u(i, j - 1) + old(i + 1, j) + old(i, j + 1)) * 0.25f; };
            return select(i < M - 1, select(j < N - 1, mean(), old(i, j)), old(i, j));
          });
      states.push_back(before);
    }
    out = before;
  }

  void schedule(Schedule& s) override {
    if (!*skewed) return;
    for (const Tensor& u : states) {
      auto [i, j] = s[u].spatial<2>();
      auto [io, jo, ii, ji] = s[u].tile(i, j, rows, columns);
      const Loop tiles = s[u].skew(io, jo, 1), points = s[u].skew(ii, ji, 1);
      s[u].reorder(tiles, io, points, ii).tighten(io).parallel(io).unroll(ii);
    }
  }
};
ASHLAR_GENERATOR(GaussSeidel, "gauss_seidel");
}  // namespace
