// A generator for debuggers: the test looks up the lines of the marks below (// mark: NAME) in this file.
#include <ashlar/ashlar.h>

using namespace ashlar;

class Blur : public Generator {
 public:
  Symbol H{"H"}, W{"W"};
  Input in{"in", f32, {H, W}};
  Output out{"out", f32, {H, W}};

  void algorithm() override {
    Tensor edge = boundary::repeat(in);
    along_x = compute("along_x", {H, W}, [&](Var y, Var x) {  // mark: along_x
      const Expr beside = edge(y, x - 1) + edge(y, x + 1);    // mark: beside
      return (edge(y, x) + beside) * (1.0f / 3);              // mark: mean
    });
    Tensor again = boundary::repeat(along_x);
    out = compute("along_y", {H, W}, [&](Var y, Var x) {  // mark: along_y
      return (again(y - 1, x) + again(y, x) + again(y + 1, x)) * (1.0f / 3);
    });
  }

  void schedule(Schedule& s) override {
    auto [y, x] = s[out].spatial<2>();
    auto [yo, yi] = s[out].split(y, 8);  // mark: rows
    s[out].vectorize(x, 8);
    s[out].parallel(yo);  // mark: parallel
    s[along_x].compute_at(yi);
    s[along_x].vectorize(s[along_x].spatial<2>()[1], 8);  // mark: columns
  }

  Tensor along_x;
};
ASHLAR_GENERATOR(Blur, "blur");
