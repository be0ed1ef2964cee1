// A tensor where an element is meant.
// error: a tensor is not a value: write its element at indices, A(i, j)
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor doubled(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return 2 * A(i); });
#else
  return compute("C", {N}, [&](Var) { return 2 * A; });
#endif
}
