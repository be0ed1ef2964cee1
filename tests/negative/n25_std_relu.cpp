// The relu of C++.
// error: std:: computes numbers, and an Expr has none yet: write exp(x), abs(x), max(x, 0.f), which are ashlar's
#include <ashlar/ashlar.h>
#include <algorithm>
using namespace ashlar;

Tensor relu(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return max(A(i), 0.0f); });
#else
  return compute("C", {N}, [&](Var i) { return std::max(A(i), 0.0f); });
#endif
}
