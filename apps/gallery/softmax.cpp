// Softmax of rows in one pass over memory. The largest element and the sum of the exponentials below it are one tuple that
// merges (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018), so that a vector of partial results is
// combined at the end of a row. A row is copied as it is met; the statistics and the result read the copy, which is in the
// cache: x is read once, y written once, whatever the length.
#include <ashlar/ashlar.h>

#include <limits>
using namespace ashlar;

namespace {
class Softmax : public Generator {
 public:
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M, N}};
  Tensor total;

  void algorithm() override {
    // {m, s}: the largest so far, and the sum of exp(x - m). A finite number below all others is the identity: the
    // difference of two infinities would be none.
    const auto online = reducer(
        "online", {f32, f32}, {f32(-std::numeric_limits<float>::max()), 0},
        [](Values<2> a, Values<2> b) {
          const Expr less = exp(-abs(a[0] - b[0]));  // what the part with the smaller maximum is worth
          return values(max(a[0], b[0]), select(a[0] < b[0], a[1] * less + b[1], a[1] + b[1] * less));
        },
        Order::any);
    Axis k{"k", N};
    auto [m, s] = compute("online", {M}, [&](Var i) { return online(values(x(i, k), 1), k); });
    total = s;
    y = compute("softmax", {M, N}, [&, m = m, s = s](Var i, Var j) { return exp(x(i, j) - m(i)) / s(i); });
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[y].spatial<2>();
    s[y].parallel(i).vectorize(j, lanes);
    s[total].compute_at(i).store_in(Scope::stack);
    auto [strip, lane] = s[total].split(s[total].reduction(), lanes);
    Stage part = s[total].rfactor(lane);
    part.store_in(Scope::stack).vectorize(part.spatial<2>()[1]);
    Stage row = s.cache_read(x, {part, y}, Scope::global, 0);
    row.compute_at(i).vectorize(row.spatial<2>()[1], lanes);
    (void)strip;
  }
};
ASHLAR_GENERATOR(Softmax, "softmax");
}  // namespace
