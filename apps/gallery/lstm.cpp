// A layer of long short-term memory over a whole sequence, as one kernel (Hochreiter and Schmidhuber, Long short-term memory,
// 1997, with forget gates). The products with what came before are a stage inside of the recurrence, computed between its
// steps.
//
//   i, f, g, o of [t] = W x[t] + U h[t - 1] + b      c[t] = sigmoid(f) c[t - 1] + sigmoid(i) tanh(g)      h[t] = sigmoid(o)
//   tanh(c[t])
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Lstm : public Generator {
 public:
  Symbol T{"T"}, I{"I"}, H{"H"};  // steps, inputs, units
  Input x{"x", f32, {T, I}}, W{"W", f32, {I, 4, H}}, U{"U", f32, {H, 4, H}}, b{"b", f32, {4, H}};
  Output out{"out", f32, {T, H}};
  Tensor xw, gates, state;

  void algorithm() override {
    Axis i{"i", I}, k{"k", H};
    const auto sigmoid = [](const Expr& v) { return 1 / (1 + exp(-v)); };
    xw = compute("xw", {T, 4, H}, [&](Var t, Var g, Var j) { return sum(x(t, i) * W(i, g, j), i).from(b(g, j)); });
    auto [c, h] = recur(
        "cell", {T + 1, H}, Along{0}, Lag{1}, [&](Var, Var) { return values(f32(0), f32(0)); },
        [&](Prior before, Var t, Var j) {
          gates = compute("gates", {Range{Expr(1), T + 1}, 4, H},
                          [&](Var s, Var g, Var m) { return sum(before[1](s - 1, k) * U(k, g, m), k).from(xw(s - 1, g, m)); });
          const Expr next = sigmoid(gates(t, 1, j)) * before[0](t - 1, j) + sigmoid(gates(t, 0, j)) * tanh(gates(t, 2, j));
          return values(next, sigmoid(gates(t, 3, j)) * tanh(next));
        });
    state = c;
    out = compute("h", {T, H}, [&, h = h](Var t, Var j) { return h(t + 1, j); });
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
