#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Scale : public Generator {
 public:
  Param<int> by{"by", 2, "factor"};
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) * by; });
  }
  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    s[y].vectorize(i, s.target().lanes(f32));
  }
};
ASHLAR_GENERATOR(Scale, "scale");
}  // namespace
