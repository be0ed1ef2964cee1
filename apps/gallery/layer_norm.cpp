// Layer normalization in one pass over memory. For the statistics count, mean and squared deviations are one tuple that merges
// (Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979), so that a vector
// of partial results is combined at the end of a row. A row is copied as it is met; the statistics and the result read the
// copy, which is in the cache: x is read once. (ops::layer_norm takes the mean first, then the deviations.)
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
Values<3> merged(Values<3> a, Values<3> b) {
  const Expr n = a[0] + b[0], share = select(n == 0, 0, b[0] / n), apart = b[1] - a[1];
  return values(n, a[1] + apart * share, a[2] + b[2] + apart * apart * a[0] * share);
}

class LayerNorm : public Generator {
 public:
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", f32, {M, N}}, scale{"scale", f32, {N}}, shift{"shift", f32, {N}};
  Scalar epsilon{"epsilon", f32};
  Output out{"out", f32, {M, N}};
  Tensor mean;

  void algorithm() override {
    const Axis k{"k", N};
    const auto moments = reducer("moments", {f32, f32, f32}, {0, 0, 0}, merged, Order::any);
    auto [n, m, d] = compute("moments", {M}, [&](Var i) { return moments(values(1, x(i, k), 0), k); });
    mean = m;
    out = compute("layer_norm", {M, N},
                  [&](Var i, Var j) { return (x(i, j) - m(i)) * rsqrt(d(i) / n(i) + epsilon) * scale(j) + shift(j); });
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[out].spatial<2>();
    s[out].parallel(i).vectorize(j, lanes);
    s[mean].compute_at(i);
    s[mean].store_in(Scope::stack);
    auto [strip, lane] = s[mean].split(s[mean].reduction(), lanes);
    Stage part = s[mean].rfactor(lane);
    part.store_in(Scope::stack);
    part.vectorize(part.spatial<2>()[1]);
    Stage row = s.cache_read(x, {part, out}, Scope::global, 0);
    row.compute_at(i).vectorize(row.spatial<2>()[1], lanes);
    (void)strip;
  }
};
ASHLAR_GENERATOR(LayerNorm, "layer_norm");
}  // namespace
