// An element assigned.
// error: an element is not assigned
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor doubled(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return A(i) * 2; });
#else
  Tensor C = compute("C", {N}, [&](Var i) { return A(i); });
  C(0) = A(0) * 2;
  return C;
#endif
}
