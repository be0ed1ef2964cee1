#pragma once
// Recurrences whose step has stages of its own: an LSTM over time as one program, and a cell over whole numbers.
//
//   gates(t) = xw(t - 1) + h(t - 1) * Wh          between the steps of the recurrence
//   c(t), h(t) = from gates(t) and c(t - 1)
#include <cmath>
#include <vector>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace cells {

using namespace ashlar;

// S. Hochreiter, J. Schmidhuber: Long Short-Term Memory (1997), with forget gates.
struct Lstm {
  static constexpr int I = 5, H = 12;
  lang::DefinitionScope scope;
  Symbol T{"T"}, B{"B"};
  Tensor x = lang::make_input("x", f32, {T, B, I}), Wx = lang::make_input("Wx", f32, {I, 4 * H}),
         Wh = lang::make_input("Wh", f32, {H, 4 * H}), bias = lang::make_input("bias", f32, {4 * H}),
         out = lang::make_output("out", f32, {T, B, H});
  Axis i{"i", I}, k{"k", H};
  Tensor xw = compute("xw", {{"t", T}, {"b", B}, {"g", 4 * H}},
                      [&](Var t, Var b, Var g) { return sum(x(t, b, i) * Wx(i, g), i).from(bias(g)); });
  Tensor gates, c, h, result;
  lang::Built built;
  Lstm() {
    const auto sigmoid = [](const Expr& v) { return 1 / (1 + exp(-v)); };
    const auto state = recur(
        "cell", {{"t", T + 1}, {"b", B}, {"j", H}}, Along{0}, Lag{1}, [&](Var, Var, Var) { return values(f32(0), f32(0)); },
        [&](Prior y, Var t, Var b, Var j) {
          gates = compute("gates", {{"t", Range{Expr(1), T + 1}}, {"b", B}, {"g", 4 * H}},
                          [&](Var s, Var r, Var g) { return sum(y[1](s - 1, r, k) * Wh(k, g), k).from(xw(s - 1, r, g)); });
          const Expr next =
              sigmoid(gates(t, b, j + H)) * y[0](t - 1, b, j) + sigmoid(gates(t, b, j)) * tanh(gates(t, b, j + 2 * H));
          return values(next, sigmoid(gates(t, b, j + 3 * H)) * tanh(next));
        });
    c = state[0], h = state[1];
    result = compute("result", {{"t", T}, {"b", B}, {"j", H}}, [&](Var t, Var b, Var j) { return h(t + 1, b, j); });
    lang::bind(out, result);
    built = lang::build_program("lstm", {x, Wx, Wh, bias, out});
  }

  // In plain loops.
  static std::vector<float> plain(const std::vector<float>& x, const std::vector<float>& wx, const std::vector<float>& wh,
                                  const std::vector<float>& bias, int T, int B) {
    std::vector<float> out, c(static_cast<std::size_t>(B * H)), h(static_cast<std::size_t>(B * H)), g(4 * H);
    for (int t = 0; t < T; ++t) {
      const std::vector<float> before = h;
      for (int b = 0; b < B; ++b) {
        for (int n = 0; n < 4 * H; ++n) {
          g[n] = bias[n];
          for (int m = 0; m < I; ++m) g[n] += x[(t * B + b) * I + m] * wx[m * 4 * H + n];
          for (int m = 0; m < H; ++m) g[n] += before[b * H + m] * wh[m * 4 * H + n];
        }
        for (int j = 0; j < H; ++j) {
          const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
          float& cell = c[b * H + j];
          cell = sigmoid(g[H + j]) * cell + sigmoid(g[j]) * std::tanh(g[2 * H + j]);
          h[b * H + j] = sigmoid(g[3 * H + j]) * std::tanh(cell);
        }
      }
      out.insert(out.end(), h.begin(), h.end());
    }
    return out;
  }
};

// y(t, j) = x(t, j) - sum over k of y(t - 1, k) * W(k, j), with the sum taken of what a second stage makes of y.
struct Whole {
  lang::DefinitionScope scope;
  Symbol T{"T"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {T, N}), W = lang::make_input("W", i32, {N, N}),
         out = lang::make_output("out", i32, {T, N});
  Axis k{"k", N};
  Tensor turned, product, y;
  lang::Built built;
  Whole() {
    y = recur(
        "y", {{"t", T}, {"j", N}}, Along{0}, Lag{1}, [&](Var t, Var j) { return x(t, j); },
        [&](Prior p, Var t, Var j) {
          turned = compute("turned", [&](Var s, Var m) { return select(s > 0, p(s - 1, N - 1 - m), 0); });
          product = compute("product", [&](Var s, Var m) { return sum(turned(s, k) * W(k, m), k); });
          return x(t, j) - product(t, j);
        });
    lang::bind(out, y);
    built = lang::build_program("whole", {x, W, out});
  }
  static std::vector<int> plain(const std::vector<int>& x, const std::vector<int>& w, int T, int N) {
    std::vector<int> y(static_cast<std::size_t>(T * N));
    for (int t = 0; t < T; ++t)
      for (int j = 0; j < N; ++j) {
        unsigned sum = 0;
        for (int m = 0; t > 0 && m < N; ++m)
          sum += static_cast<unsigned>(y[(t - 1) * N + N - 1 - m]) * static_cast<unsigned>(w[m * N + j]);
        y[t * N + j] = static_cast<int>(static_cast<unsigned>(x[t * N + j]) - sum);
      }
    return y;
  }
};

}  // namespace cells
