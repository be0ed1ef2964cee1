// An epilogue written on a reduction.
// error: a reduction is a whole stage: name it with compute(...), then use the tensor it gives
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor biased(const Tensor& A, const Tensor& b, const Symbol& N) {
  Axis k{"k", N};
#ifdef FIXED
  Tensor total = compute("total", {N}, [&](Var i) { return sum(A(i, k), k); });
  return compute("C", {N}, [&](Var i) { return total(i) + b(i); });
#else
  return compute("C", {N}, [&](Var i) { return sum(A(i, k), k) + b(i); });
#endif
}
