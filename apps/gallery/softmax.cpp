// Softmax of rows in one pass over memory. The largest element and the sum of the exponentials below it are one tuple that
// merges (ops::softmax_online), so that a vector of partial results is combined at the end of a row. A row is copied as it is
// met; the statistics and the result read the copy, which is in the cache: x is read once, y written once, whatever the length.
#include <ashlar/ashlar.h>
#include <ashlar/ops/norm.h>
using namespace ashlar;

namespace {
class Softmax : public Generator {
 public:
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M, N}};
  Tensor total;

  void algorithm() override {
    const auto p = ops::softmax_online(x);
    total = p.sum;
    y = p.result;
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
