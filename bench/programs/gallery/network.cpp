// gallery/network.cpp: one step of training of a network of two layers (apps/gallery/network.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 331, {.min = 1}), D = p.size("D", 39), H = p.size("H", 53), K = p.size("K", 11);
  const Tensor x = p.in("x", f32, {N, D}, uniform(-1, 1)), t = p.in("t", f32, {N, K}, uniform(-1, 1));
  const Tensor W1 = p.in("W1", f32, {D, H}, uniform(-0.3, 0.3)), b1 = p.in("b1", f32, {H}, uniform(-0.3, 0.3)),
               W2 = p.in("W2", f32, {H, K}, uniform(-0.3, 0.3)), b2 = p.in("b2", f32, {K}, uniform(-0.3, 0.3));
  const Axis n{"n", N}, k{"k", K};
  const Tensor z = ops::dense(ops::tanh(ops::dense(x, W1, b1)), W2, b2);
  const Tensor error =
      compute("error", {N, K}, [&](Var i, Var o) { return (z(i, o) - t(i, o)) * (z(i, o) - t(i, o)) / f32(N); });
  const Tensor loss = compute("loss", [&] { return sum(error(n, k), {n, k}); });
  auto [dW1, db1, dW2, db2] = gradient(loss, {W1, b1, W2, b2});
  const auto stepped = [&](const char* name, const Tensor& w, const Tensor& dw) {
    return compute(name, w.shape(), [&](Indices i) { return w(i) - 0.1f * dw(i); });
  };
  p.out(stepped("W1_next", W1, dW1)), p.out(stepped("b1_next", b1, db1));
  p.out(stepped("W2_next", W2, dW2)), p.out(stepped("b2_next", b2, db2));
}
