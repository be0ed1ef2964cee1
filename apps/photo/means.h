#pragma once
// How much light each of the four filters of a mosaic saw: sums and numbers of the samples below `full`, for a white balance
// that makes their means equal. Sums of integers are the same in any order.
#include <ashlar/generator/generator.h>

namespace photo {

using namespace ashlar;

class Means : public Generator {
 public:
  Symbol H{"H", {.min = 1, .max = 65536}}, W{"W", {.min = 1, .max = 65536}};
  Scalar full{"full", u16};
  Input in{"in", u16, {H, W}};
  Output total{"total", u64, {2, 2}}, count{"count", u64, {2, 2}};  // by the parities of row and column

  void algorithm() override {
    columns = compute("columns", {{"a", 2}, {"x", W}}, [&](Var a, Var x) {  // of at most 32768 samples of 16 bits
      const Axis k{"k", (H + 1 - a) / 2};
      const Expr sample = in(2 * k + a, x);
      return sum(select(sample < full, u32(sample), 0), k);
    });
    counts = compute("counts", {{"a", 2}, {"x", W}}, [&](Var a, Var x) {
      const Axis k{"k", (H + 1 - a) / 2};
      return sum(select(in(2 * k + a, x) < full, u32(1), u32(0)), k);
    });
    const auto of_columns = [&](const char* name, const Tensor& t) {
      return compute(name, {{"a", 2}, {"b", 2}}, [&](Var a, Var b) {
        const Axis k{"k", (W + 1 - b) / 2};
        return sum(u64(t(a, 2 * k + b)), k);
      });
    };
    total = of_columns("total", columns), count = of_columns("count", counts);
  }

  void schedule(Schedule& s) override {
    for (const Tensor& t : {columns, counts}) {
      auto [a, x] = s[t].spatial<2>();
      auto [outer, inner] = s[t].split(x, 8 * s.target().lanes(u32));
      s[t].reorder(outer, a, s[t].reduction(), inner).vectorize(inner, s.target().lanes(u32)).parallel(outer);
    }
  }

 private:
  Tensor columns, counts;
};

}  // namespace photo
