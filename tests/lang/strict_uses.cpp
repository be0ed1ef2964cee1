// The language as an application compiles it: without exceptions, without run-time types, every warning an error. Small uses
// of everything that a lambda may contain; strict_test.cpp calls them.
#include <ashlar/lang.h>

#include "tests/lang/strict_uses.h"

namespace strict {

Tensor zero(Symbol N) {
  return compute("zero", {N}, [&](Var) { return 0; });
}
Tensor iota(Symbol N) {
  return compute("iota", {N}, [&](Var i) { return i; });
}
Tensor total(const Tensor& x) {
  Axis k{"k", x.extent(0)};
  return compute("total", [&] { return sum(x(k), k); });
}
Tensor triangle(const Tensor& A, Symbol N) {
  return compute("triangle", {N}, [&](Var i) {
    Axis k{"k", i + 1};
    return sum(A(k), k);
  });
}
Tensor filtered(const Tensor& A, Symbol N) {
  Axis k{"k", N};
  return compute("filtered", {N}, [&](Var i) { return sum(A(k), k.where(k <= i)); });
}
Tensor labeled(const Tensor& A, Symbol N) {
  return compute("l", {{"row", N}, {"col", N}}, [&](Var i, Var j) { return A(j) - A(i); });
}
Tensor offset(const Tensor& A, Symbol N) {
  return compute("o", {Range{Expr(-2), N + 2}}, [&](Var i) { return A(clamp(i, 0, N - 1)); });
}

Expr logic(const Expr& x, bool b) { return (x && true) || (false || x) || (b && x) || (x && b) || !x; }
Expr mixed(const Expr& x, Var i, Axis k, Symbol N) {
  Expr a = 2 * x + i * 3 - k / 2 + N % 4 + x * 5;
  Expr c = (i == 0) || (k != N) || (x < 3) || !(x == 7);
  Expr d = select(c && true, a, 0) + select(c, max(a, 3), min(1, a));
  a += i;
  a *= 2;
  return -a + d;
}
Tensor mixes(const Tensor& A, Symbol N) {
  Axis k{"k", N};
  return compute("mixes", {N}, [&](Var i) { return sum(select(logic(i > 2, true), mixed(A(k), i, k, N), 0), k); });
}
Tensor running_maximum(const Tensor& A, Symbol N) {
  auto m = reducer("m", {f32}, {lowest(f32)}, [](Values<1> a, Values<1> b) { return values(max(a[0], b[0])); }, Order::any);
  return scan("running", {N}, Along{0}, m, [&](Var i) { return A(i); });
}
Tensor smooth(const Tensor& x, const Expr& a) {
  return recur(
      "smooth", {x.extent(0), x.extent(1)}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
      [&](Prior y, Var r, Var t) { return a * x(r, t) + (1 - a) * y(r, t - 1); });
}

}  // namespace strict
