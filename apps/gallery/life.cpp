// Conway's game of life on a torus: `steps` generations by one kernel, each a stage.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Life : public Generator {
 public:
  Param<int> steps{"steps", 2, between(1, 16), "generations"};
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Input cells{"cells", u8, {H, W}};
  Output out{"out", u8, {H, W}};
  std::vector<Tensor> generations;

  void algorithm() override {
    Tensor now = cells;
    for (int g = 0; g < *steps; ++g) {
      const Tensor torus = boundary::wrap(now);
      now = compute("generation", {H, W}, [&](Var y, Var x) {
        Expr around = u8(0);
        for (int r = -1; r <= 1; ++r)
          for (int c = -1; c <= 1; ++c)
            if (r != 0 || c != 0) around += torus(y + r, x + c);
        return select(around == 3, u8(1), select(around == 2, now(y, x), u8(0)));
      });
      generations.push_back(now);
    }
    out = now;
  }

  void schedule(Schedule& s) override {
    for (const Tensor& g : generations) {
      auto [y, x] = s[g].spatial<2>();
      s[g].parallel(y).vectorize(x, s.target().lanes(u8));
    }
  }
};
ASHLAR_GENERATOR(Life, "life");
}  // namespace
