// Harris corners (Harris and Stephens, A combined corner and edge detector, 1988): gradients by Sobel's filter, their products
// summed over 3x3 windows, det - k trace^2.
#include <ashlar/ashlar.h>
#include <ashlar/ops/image_statistics.h>
using namespace ashlar;

namespace {
class Harris : public Generator {
 public:
  Param<int> strip{"strip", 32, between(1, 1024), "rows that one task computes"};
  Symbol H{"H", {.min = 5}}, W{"W", {.min = 5}};
  Input gray{"gray", f32, {H, W}};
  Output out{"out", f32, {H - 4, W - 4}};
  Tensor gx, gy;

  void algorithm() override {
    const auto corners = ops::harris(gray);
    gx = corners.gx, gy = corners.gy;
    out = corners.result;
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [y, x] = s[out].spatial<2>();
    auto [task, row] = s[out].split(y, strip);
    s[out].tighten(row).parallel(task).vectorize(x, lanes);
    for (const Tensor& g : {gx, gy}) {  // a window of three rows moves down the strip, in a ring of four
      s[g].store_at(task).compute_at(row).slide(row).fold(0, 4);
      s[g].vectorize(s[g].spatial<2>()[1], lanes);
    }
  }
};
ASHLAR_GENERATOR(Harris, "harris");
}  // namespace
