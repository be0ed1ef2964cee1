// The mean over a square window of any size at one cost: a table of the sums above and to the left of every pixel (Crow,
// Summed-area tables for texture mapping, 1984), by a scan down and a scan across, and four of its entries for each pixel.
// Windows end at the edges of the image.
#include <ashlar/ashlar.h>
#include <ashlar/ops/image_statistics.h>
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
    const auto box = ops::box_filter(in, radius);
    down = box.down, table = box.table;
    out = box.result;
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
