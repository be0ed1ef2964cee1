// quantized/dynamic_rows.cpp: each row quantized by its own largest magnitude, then a product of int8 with weights of a scale
// for each output.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol rows = p.size("rows", 67), K = p.size("K", 347), outputs = p.size("outputs", 141);
  const Tensor x = p.in("x", f32, {rows, K}, uniform(-3, 3)), w = p.in("w", i8, {outputs, K}, integers(-127, 128));
  const Tensor w_scale = p.in("w_scale", f32, {outputs}, uniform(0.001, 0.02)),
               bias = p.in("bias", f32, {outputs}, uniform(-1, 1));

  const Axis k{"k", K};
  const Tensor top = compute("top", {rows}, [&](Var r) { return maximum(abs(x(r, k)), k).from(0); });
  const Tensor scale = compute("scale", {rows}, [&](Var r) { return max(top(r), 1e-6f) / 127; });
  const Tensor q = compute("q", {rows, K}, [&](Var r, Var c) { return saturate(i8, x(r, c) / scale(r)); });
  const Tensor total = compute("total", {rows, outputs}, [&](Var r, Var o) { return sum(i32(q(r, k)) * i32(w(o, k)), k); });
  p.out(compute("y", {rows, outputs}, [&](Var r, Var o) { return f32(total(r, o)) * (scale(r) * w_scale(o)) + bias(o); }));
}
