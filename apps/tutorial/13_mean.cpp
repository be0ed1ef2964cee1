// The generator of lesson 13: the mean of the elements around each one.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Mean : public Generator {
 public:
  Param<int> radius{"radius", 1, between(1, 16), "elements on either side"};
  Symbol N{"N", {.min = 2 * *radius + 1}};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N - 2 * *radius}};

  void algorithm() override {
    y = compute("y", {{"i", y.extent(0)}}, [&](Var i) {
      Expr sum = x(i);
      for (int d = 1; d <= 2 * *radius; ++d) sum += x(i + d);  // a loop of C++: it is gone when the kernel runs
      return sum * (1.0f / static_cast<float>(2 * *radius + 1));
    });
  }

  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    auto [strip, lane] = s[y].split(i, s.target().lanes(f32));
    s[y].vectorize(lane);
    if (*radius > 8) s[y].parallel(strip);
  }
};
ASHLAR_GENERATOR(Mean, "mean");
}  // namespace
