#include <ashlar/ashlar.h>
#include <ashlar/ops.h>
using namespace ashlar;

namespace {
class Scale : public Generator {
 public:
  Param<int> by{"by", 2, "factor"};
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override { y = ops::scale(x, by); }
  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    s[y].vectorize(i, s.target().lanes(f32));
  }
};
ASHLAR_GENERATOR(Scale, "scale");
}  // namespace
