// A bilateral filter by a grid (Chen, Paris and Durand, Real-time edge-aware image processing with the bilateral grid, 2007):
// smooths what is alike and keeps edges. Every pixel goes into the cell of its place and its value; the cells, a small volume,
// are blurred along each of their axes; each pixel reads the volume at its own place and value, between the cells.
//
// What falls into a cell is one number, how many in its upper half and the sum of their values in the lower: 256 pixels of 255
// fit 16 bits, which is what bounds `cell`. So all rows may add to one grid by indivisible additions of integers, which are
// the same in any order; only rows at the seams of cells meet.
#include <ashlar/ashlar.h>
#include <ashlar/ops/image_statistics.h>
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
    const auto b = ops::bilateral_grid(in, cell, step);
    grid = b.grid, along_z = b.along_z[0], along_x = b.along_x[0], along_y = b.along_y[0];
    out = b.result;
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
