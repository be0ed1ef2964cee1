#include <ashlar/ashlar.h>
using namespace ashlar;

class Axpy : public Generator {
 public:
  Symbol M{"M", {.min = 1}};
  ExtentParam N{"N"};
  Scalar a{"a", f32};
  Input x{"x", f32, {M, N}};
  Input bias{"bias", f32, {N}, {.order = Layout::dense, .align = 64}};
  Input z{"z", f32, {M, N}, {.order = Layout::any}};
  Output y{"y", f32, {M, N}, {}, {.alias_inputs = true}};

  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return a * x(i, j) + z(i, j) + bias(j); });
  }
  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[y].spatial<2>();
    s[y].parallel(i);
    if (N.number_or(lanes) >= lanes) s[y].vectorize(j, lanes);
  }
};
ASHLAR_GENERATOR(Axpy, "axpy");
