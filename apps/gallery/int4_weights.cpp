// A layer of a language model with weights of 4 bits: y = W x, where a group of neighbors in a row of W shares one scale, and
// x is int8 with one scale of its own. Half a byte a weight is read; the products of a group are summed in integers, exactly,
// and meet their scale once (as in Dettmers et al., 8-bit optimizers via block-wise quantization, 2022, for groups of numbers).
#include <ashlar/ashlar.h>
#include <ashlar/ops/quantized.h>
using namespace ashlar;

namespace {
class Int4Weights : public Generator {
 public:
  Param<int> group{"group", 32, {{16, 32, 64, 128}}, "weights that share a scale"};
  Symbol M{"M"}, G{"G"};
  Input W{"W", i4, {M, G * group}}, scale{"scale", f32, {M, G}}, x{"x", i8, {G * group}};
  Scalar x_scale{"x_scale", f32};
  Output y{"y", f32, {M}};
  Tensor part, total;

  void algorithm() override {
    const auto product = ops::int4_gemv(W, scale, x, x_scale, group);
    part = product.part, total = product.total;
    y = product.result;
  }

  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    s[y].parallel(i);
    s[total].compute_at(i);
    s[part].compute_at(s[total].reduction());
    auto [strip, lane] = s[part].split(s[part].reduction(), 16);
    Stage lanes = s[part].rfactor(lane);  // a register of sums, added up at the end of a group
    lanes.store_in(Scope::stack).vectorize(lanes.spatial<3>()[2]);
    (void)strip;
  }
};
ASHLAR_GENERATOR(Int4Weights, "int4_weights");
}  // namespace
