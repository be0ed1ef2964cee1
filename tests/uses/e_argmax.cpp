// (e) argmax: a reduction over pairs. The library's, and the same written by a user.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
Reducer<2> first_maximum(Type t) {
  return reducer(
      "first_maximum", {t, i64}, {lowest(t), highest(i64)},
      [](Values<2> a, Values<2> b) {
        Expr take_a = a[0] > b[0] || (a[0] == b[0] && a[1] < b[1]);
        return select(take_a, a, b);
      },
      Order::any);
}

class ArgMax : public Generator {
 public:
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", f32, {M, N}};
  Output value{"value", f32, {M}}, place{"place", i64, {M}};
  Tensor best;
  void algorithm() override {
    Axis k{"k", N};
    auto pick = first_maximum(x.type());
    auto [v, at_] = compute("argmax", {M}, [&](Var i) { return pick(values(x(i, k), k), k); });
    auto [v2, at2] = compute("library", {M}, [&](Var i) { return argmax(x(i, k), k); });
    value = v, place = at_, best = v;
    (void)v2;
    (void)at2;
  }
  void schedule(Schedule& s) override {  // either output names the stage that computes both
    auto [ko, ki] = s[best].split(s[best].reduction(), 16);
    Stage lanes = s[best].rfactor(ki);
    lanes.vectorize(lanes.spatial<2>()[1]);
    (void)ko;
  }
};
ASHLAR_GENERATOR(ArgMax, "argmax");
}  // namespace
