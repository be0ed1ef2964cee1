// A bilateral filter by a grid (Chen, Paris and Durand, Real-time edge-aware image processing with the bilateral grid, 2007):
// smooths what is alike and keeps edges. Every pixel goes into the cell of its place and its value; the cells, a small volume,
// are blurred along each of their axes; each pixel reads the volume at its own place and value, between the cells.
//
// What falls into a cell is one number, how many in its upper half and the sum of their values in the lower: 256 pixels of 255
// fit 16 bits, which is what bounds `cell`. So all rows may add to one grid by indivisible additions of integers, which are
// the same in any order; only rows at the seams of cells meet.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class BilateralGrid : public Generator {
 public:
  Param<int> cell{"cell", 8, {{2, 4, 8, 16}}, "edge of a cell in pixels"};
  Param<int> step{"step", 32, {{8, 16, 32, 64}}, "values of a cell"};
  Symbol H{"H", {.min = 1, .max = 65536}}, W{"W", {.min = 1, .max = 65536}};
  Input in{"in", u8, {H, W}};
  Output out{"out", f32, {H, W}};
  Tensor grid, along_z, along_x, along_y;

  Expr cells(const Symbol& extent) const { return (extent + (*cell - 1)) / *cell + 1; }

  void algorithm() override {
    const int c = *cell, v = *step;
    const Expr rows = cells(H), columns = cells(W);
    const int levels = 256 / v + 1;
    grid = scatter("grid", {rows, columns, levels}, Combine::add, u32(0), {H, W}, [&](Var y, Var x) {
      return put((u32(1) << 16) + u32(in(y, x)), (y + c / 2) / c, (x + c / 2) / c,
                 in_range((i32(in(y, x)) + v / 2) / v, 0, levels));
    });
    const Tensor around = boundary::constant(grid, u32(0), {2});
    auto [sz, nz] = compute("along_z", {rows, columns, levels}, [&](Var y, Var x, Var z) {
      Expr sum = f32(0), count = f32(0);
      for (int d = -2; d <= 2; ++d) {
        const Expr g = around(y, x, z + d);
        sum += f32(g & 65535) * weight(d), count += f32(g >> 16) * weight(d);
      }
      return values(sum, count);
    });
    along_z = sz;
    const std::array<Tensor, 2> x5 = blurred("along_x", {sz, nz}, 1), y5 = blurred("along_y", x5, 0);
    along_x = x5[0], along_y = y5[0];
    out = compute("slice", {H, W}, [&](Var y, Var x) {
      const Expr value = i32(in(y, x)), z = in_range(value / v, 0, levels - 1), next = in_range(value / v + 1, 1, levels);
      const auto part = [](const Expr& i, int by) { return f32(i % by) * (1.0f / static_cast<float>(by)); };
      const auto mix = [](const Expr& a, const Expr& b, const Expr& f) { return a * (1 - f) + b * f; };
      const auto at = [&](const Tensor& t) {
        const auto z2 = [&](int dy, int dx) {
          return mix(t(y / c + dy, x / c + dx, z), t(y / c + dy, x / c + dx, next), part(value, v));
        };
        return mix(mix(z2(0, 0), z2(0, 1), part(x, c)), mix(z2(1, 0), z2(1, 1), part(x, c)), part(y, c));
      };
      return at(y5[0]) / at(y5[1]);
    });
  }

  // 1 4 6 4 1, which is close to a Gaussian of variance 1. Nothing is divided: sums and counts grow alike.
  static float weight(int d) { return d == 0 ? 6.0f : d == 1 || d == -1 ? 4.0f : 1.0f; }
  static std::array<Tensor, 2> blurred(const char* name, const std::array<Tensor, 2>& t, int dim) {
    const Tensor a = boundary::constant(t[0], 0.f, {dim}), b = boundary::constant(t[1], 0.f, {dim});
    return compute(name, t[0].shape(), [&](Indices i) {
      Expr sum = f32(0), count = f32(0);
      for (int d = -2; d <= 2; ++d) {
        sum += a(i.with(dim, i[dim] + d)) * weight(d), count += b(i.with(dim, i[dim] + d)) * weight(d);
      }
      return values(sum, count);
    });
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    s[grid].atomic().parallel(s[grid].reduction<2>()[0]);
    // A cell meets the edge of the grid in the first and last two columns alone, or rows: between them nothing is tested.
    const Expr rows = cells(H), columns = cells(W);
    for (const Tensor& t : {along_z, along_x, along_y}) {
      auto [row, column, level] = s[t].spatial<3>();
      s[t].vectorize(level, lanes);
      Loop many = row;
      if (t.id() == along_x.id()) s[t].partition(s[t].partition(column, 2), max(columns - 2, 2));
      if (t.id() == along_y.id()) s[t].partition(many = s[t].partition(row, 2), max(rows - 2, 2));
      s[t].parallel(many);
    }
    auto [y, x] = s[out].spatial<2>();
    s[out].parallel(y).vectorize(x, lanes);
  }
};
ASHLAR_GENERATOR(BilateralGrid, "bilateral_grid");
}  // namespace
