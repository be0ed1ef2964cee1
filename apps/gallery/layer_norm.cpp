// Layer normalisation in one pass over memory. For the statistics count, mean and squared deviations are one tuple that merges
// (ops::Moments), so that a vector of partial results is combined at the end of a row. A row is copied as it is met; the
// statistics and the result read the copy, which is in the cache: x is read once.
#include <ashlar/ashlar.h>
#include <ashlar/ops/norm.h>
using namespace ashlar;

namespace {
class LayerNorm : public Generator {
 public:
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", f32, {M, N}}, scale{"scale", f32, {N}}, shift{"shift", f32, {N}};
  Scalar epsilon{"epsilon", f32};
  Output out{"out", f32, {M, N}};
  Tensor mean;

  void algorithm() override {
    const auto n = ops::layer_norm(x, scale, shift, epsilon);
    mean = n.mean;
    out = n.result;
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
