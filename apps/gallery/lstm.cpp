// A layer of long short-term memory over a whole sequence, as one kernel (Hochreiter and Schmidhuber, Long short-term memory,
// 1997, with forget gates). The products with what came before are a stage inside of the recurrence, computed between its
// steps.
//
//   i, f, g, o of [t] = W x[t] + U h[t - 1] + b      c[t] = sigmoid(f) c[t - 1] + sigmoid(i) tanh(g)      h[t] = sigmoid(o)
//   tanh(c[t])
#include <ashlar/ashlar.h>
#include <ashlar/ops/recurrent.h>
using namespace ashlar;

namespace {
class Lstm : public Generator {
 public:
  Symbol T{"T"}, I{"I"}, H{"H"};  // steps, inputs, units
  Input x{"x", f32, {T, I}}, W{"W", f32, {I, 4, H}}, U{"U", f32, {H, 4, H}}, b{"b", f32, {4, H}};
  Output out{"out", f32, {T, H}};
  Tensor xw, gates, state;

  void algorithm() override {
    const auto layer = ops::lstm(x, W, U, b);
    xw = layer.xw, gates = layer.gates, state = layer.cell;
    out = layer.result;
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    // Both products: columns are vectors, terms stand outside of them.
    for (const Tensor& product : {gates, xw}) {
      auto [t, g, j] = s[product].spatial<3>();
      s[product].reorder(t, g, s[product].reduction(), j);
      if (product.id() == xw.id()) s[xw].parallel(t);
      s[product].vectorize(j, lanes);
    }
    s[state].vectorize(s[state].spatial<2>()[1], lanes);
  }
};
ASHLAR_GENERATOR(Lstm, "lstm");
}  // namespace
