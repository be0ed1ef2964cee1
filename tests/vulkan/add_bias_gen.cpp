// A generator for a device, as a project would write it; the library that it makes is called by add_bias_caller.c.
#include <ashlar/ashlar.h>

using namespace ashlar;

class AddBias : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}}, b{"b", f32, {N}};
  Output y{"y", f32, {M, N}};
  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) + b(j); });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[y].spatial<2>();
    auto [jo, ji] = s[y].split(j, 64);
    s[y].bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(ji, gpu::thread_x);
  }
};
ASHLAR_GENERATOR(AddBias, "add_bias");
