// Generators whose profiles are tested: the test looks up the lines of the marks below (// mark: NAME) in this file.
#include <ashlar/ashlar.h>

using namespace ashlar;

namespace {

class Stages : public Generator {
 public:
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Input in{"in", f32, {H, W}};
  Output out{"out", f32, {H, W}};
  Tensor mean, down;

  void algorithm() override {
    const Axis k{"k", H};
    mean = compute("mean", {W}, [&](Var x) { return sum(in(k, x), k); });  // mark: mean
    const Tensor edge = boundary::repeat(in);
    down = compute("down", [&](Var y, Var x) { return edge(y - 1, x) + edge(y + 1, x); });            // mark: down
    out = compute("out", {H, W}, [&](Var y, Var x) { return down(y, x) + in(y, x) * 2 + mean(x); });  // mark: out
  }

  void schedule(Schedule& s) override {
    auto [y, x] = s[out].spatial<2>();
    auto [strip, row] = s[out].split(y, 8);
    s[out].tighten(row).vectorize(x, 8).parallel(strip);  // mark: strips
    s[down].compute_at(row).vectorize(s[down].spatial<2>()[1], 8);
    s[mean].vectorize(s[mean].spatial<1>()[0], 8);
  }
};
ASHLAR_GENERATOR(Stages, "stages");

// A stage in C, which may fail.
class Outside : public Generator {
 public:
  Symbol N{"N", {.min = 1}};
  Input in{"in", f32, {N}};
  Output out{"out", f32, {N}};

  void algorithm() override {
    const Tensor once = compute("once", {N}, [&](Var i) { return in(i) + 1; });
    const Tensor twice =
        c_stage("twice", f32, {N}, region_function("profile_twice"), [&](Var i) { return Needs{needs(once, i)}; });
    out = compute("out", {N}, [&](Var i) { return twice(i) + 1; });
  }
  void schedule(Schedule&) override {}
};
ASHLAR_GENERATOR(Outside, "outside");

}  // namespace
