// The standard library's exp.
// error: std:: computes numbers, and an Expr has none yet: write exp(x), abs(x), max(x, 0.f), which are ashlar's
#include <ashlar/ashlar.h>
#include <cmath>
using namespace ashlar;

Tensor grown(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return exp(A(i)); });
#else
  return compute("C", {N}, [&](Var i) { return std::exp(A(i)); });
#endif
}
