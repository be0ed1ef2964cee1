// The mean over a square window of any size at one cost: a table of the sums above and to the left of every pixel (Crow,
// Summed-area tables for texture mapping, 1984), by a scan down and a scan across, and four of its entries for each pixel.
// Windows end at the edges of the image.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class BoxFilter : public Generator {
 public:
  Symbol H{"H", {.min = 1, .max = 4096}}, W{"W", {.min = 1, .max = 4096}};  // 255 * 2^24 fits 32 bits
  Input in{"in", u8, {H, W}};
  Scalar radius{"radius", i32};
  Output out{"out", u8, {H, W}};
  Tensor down, table;

  void algorithm() override {
    // entry (y, x) is the sum of all before row y and column x
    down = scan(
        "down", {H + 1, W}, Along{0}, Combine::add, [&](Var y, Var x) { return u32(in(min(y, H - 1), x)); }, Scan::exclusive);
    table = scan(
        "table", {H + 1, W + 1}, Along{1}, Combine::add, [&](Var y, Var x) { return down(y, min(x, W - 1)); }, Scan::exclusive);
    out = compute("box", {H, W}, [&](Var y, Var x) {
      const Expr r = clamp(radius, 0, 4096), top = max(y - r, 0), left = max(x - r, 0);
      const Expr bottom = min(y + r + 1, H), right = min(x + r + 1, W);
      const Expr sum = table(bottom, right) - table(top, right) - table(bottom, left) + table(top, left);
      const Expr area = u32((bottom - top) * (right - left));
      return u8((sum + area / 2) / area);
    });
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(u32);
    s[down].vectorize(s[down].spatial<2>()[1], lanes);  // columns are independent of one another
    s[table].parallel(s[table].spatial<2>()[0]);        // and so are rows
    auto [y, x] = s[out].spatial<2>();
    s[out].parallel(y).vectorize(x, lanes);
  }
};
ASHLAR_GENERATOR(BoxFilter, "box_filter");
}  // namespace
