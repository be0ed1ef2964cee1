// quantized/gated_q4.cpp: the gated layer of a language model for one token, its weights of 4 bits in blocks of 32 with a scale
// each. A byte holds the elements j and j + 16 of its block.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol rows = p.size("rows", 451), blocks = p.size("blocks", 37);
  const Tensor gate = p.in("gate", u8, {rows, blocks, 16}, integers(0, 256)),
               up = p.in("up", u8, {rows, blocks, 16}, integers(0, 256));
  const Tensor gate_scale = p.in("gate_scale", f32, {rows, blocks}, uniform(0.001, 0.01)),
               up_scale = p.in("up_scale", f32, {rows, blocks}, uniform(0.001, 0.01));
  const Tensor x = p.in("x", f32, {blocks * 32}, uniform(-1, 1));

  const auto product = [&](const char* name, const Tensor& w, const Tensor& scale) {
    const Axis j{"j", 16}, b{"b", blocks};
    const Tensor dot = compute("dot", {rows, blocks}, [&](Var r, Var k) {
      const Expr low = f32(i32(w(r, k, j) & 15) - 8), high = f32(i32(w(r, k, j) >> 4) - 8);
      return sum(low * x(k * 32 + j) + high * x(k * 32 + 16 + j), j);
    });
    return compute(name, {rows}, [&](Var r) { return sum(scale(r, b) * dot(r, b), b); });
  };
  const Tensor g = product("g", gate, gate_scale), u = product("u", up, up_scale);
  p.out(compute("y", {rows}, [&](Var r) { return g(r) * sigmoid(g(r)) * u(r); }));
}
