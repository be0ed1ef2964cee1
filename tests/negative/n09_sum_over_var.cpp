// A sum over the index of the result.
// error: a reduction runs over an Axis: write Axis k{"k", n} and reduce over k
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor total(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  Axis k{"k", N};
  return compute("C", [&] { return sum(A(k), k); });
#else
  return compute("C", {N}, [&](Var i) { return sum(A(i), i); });
#endif
}
