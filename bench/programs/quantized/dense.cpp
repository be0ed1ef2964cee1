// quantized/dense.cpp: bytes by bytes in 32 bits, scaled for each output, then an activation by a table of 256 bytes.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol rows = p.size("rows", 60, {.min = 1}), K = p.size("K", 250), outputs = p.size("outputs", 130);
  const Tensor x = p.in("x", u8, {rows, K}, integers(0, 256)), w = p.in("w", i8, {outputs, K}, integers(-127, 128));
  const Tensor bias = p.in("bias", i32, {outputs}, integers(-1000, 1000)),
               scale = p.in("scale", i32, {outputs}, integers(1, 40));
  const Tensor table = p.in("table", u8, {256}, integers(0, 256));
  const Axis k{"k", K};
  const Tensor total =
      compute("total", {rows, outputs}, [&](Var r, Var o) { return sum(i32(x(r, k)) * i32(w(o, k)), k).from(bias(o)); });
  p.out(compute("y", {rows, outputs},
                [&](Var r, Var o) { return table(clamp(((total(r, o) >> 6) * scale(o) >> 8) + 128, 0, 255)); }));
}
