// A generator that is built and run where LLVM is not: rows in parallel strips, vectors, storage of each worker, and a function
// that is a polynomial when it comes to C.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {

class Smooth : public Generator {
 public:
  Symbol H{"H"}, W{"W"};
  Input in{"in", u8, {H, W}};
  Output out{"out", u8, {H, W}}, damped{"damped", f32, {H, W}};
  Tensor across;

  void algorithm() override {
    const Tensor wide = boundary::repeat(in);
    across = compute("across", [&](Var y, Var x) { return u16(wide(y, x - 1)) + u16(wide(y, x)) * 2 + u16(wide(y, x + 1)); });
    out = compute("out", [&](Var y, Var x) { return u8((across(y - 1, x) + across(y, x) * 2 + across(y + 1, x) + 8) >> 4); });
    damped = compute("damped", [&](Var y, Var x) { return exp(f32(in(y, x)) * -0.01f); });
  }
  void schedule(Schedule& s) override {
    auto [y, x] = s[out].spatial<2>();
    auto [strip, row] = s[out].split(y, 16);
    s[out].vectorize(x, 16).parallel(strip);
    s[across].compute_at(strip);
    auto [dy, dx] = s[damped].spatial<2>();
    s[damped].vectorize(dx, 8).parallel(dy);
    (void)row;
  }
};
ASHLAR_GENERATOR(Smooth, "smooth");

}  // namespace
