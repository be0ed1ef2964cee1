// One step of gradient descent on a network of two layers, as one kernel: the loss of a batch, and the weights after the step.
//
//   h = tanh(x W1 + b1)        z = h W2 + b2        loss = sum of (z - t)^2 / N        W1' = W1 - rate dloss/dW1 ...
#include <ashlar/ashlar.h>
#include <ashlar/ops/elementwise.h>
#include <ashlar/ops/matmul.h>
using namespace ashlar;

namespace {
class Network : public Generator {
 public:
  Symbol N{"N", {.min = 1}}, D{"D"}, H{"H"}, K{"K"};  // samples, inputs, hidden units, outputs
  Input x{"x", f32, {N, D}}, t{"t", f32, {N, K}};
  Input W1{"W1", f32, {D, H}}, b1{"b1", f32, {H}}, W2{"W2", f32, {H, K}}, b2{"b2", f32, {K}};
  Scalar rate{"rate", f32};
  Output loss{"loss", f32, {}};
  Output W1_next{"W1_next", f32, {D, H}}, b1_next{"b1_next", f32, {H}}, W2_next{"W2_next", f32, {H, K}},
      b2_next{"b2_next", f32, {K}};
  Tensor in, h, z;
  std::vector<Tensor> made;

  void algorithm() override {
    Axis n{"n", N}, k{"k", K};
    in = ops::dense(x, W1, b1);
    h = ops::tanh(in);
    z = ops::dense(h, W2, b2);
    const Tensor error =
        compute("error", {N, K}, [&](Var i, Var o) { return (z(i, o) - t(i, o)) * (z(i, o) - t(i, o)) / f32(N); });
    const Tensor total = compute("total", [&] { return sum(error(n, k), {n, k}); });
    loss = total;
    auto [dW1, db1, dW2, db2] = gradient(total, {W1, b1, W2, b2}, &made);
    const auto stepped = [&](const char* name, const Tensor& w, const Tensor& dw) {
      return compute(name, w.shape(), [&](Indices i) { return w(i) - rate * dw(i); });
    };
    W1_next = stepped("W1_next", W1, dW1), b1_next = stepped("b1_next", b1, db1);
    W2_next = stepped("W2_next", W2, dW2), b2_next = stepped("b2_next", b2, db2);
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    // Sums over rows of matrices: the columns are vectors, the loop over terms stands outside of them.
    for (const Tensor& t2 : {in, z}) {
      auto [i, o] = s[t2].spatial<2>();
      const Loop k = s[t2].reduction();
      s[t2].reorder(i, k, o).vectorize(o, lanes).parallel(i);
    }
    auto [i, o] = s[h].spatial<2>();
    s[h].vectorize(o, lanes).parallel(i);
  }
};
ASHLAR_GENERATOR(Network, "network_step");
}  // namespace
