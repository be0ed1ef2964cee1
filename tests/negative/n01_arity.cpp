// One Var for two extents.
// error: compute: the lambda takes one Var for each extent in the braces
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor diagonal(const Tensor& A, const Symbol& M, const Symbol& N) {
#ifdef FIXED
  return compute("C", {M, N}, [&](Var i, Var j) { return A(i, j); });
#else
  return compute("C", {M, N}, [&](Var i) { return A(i, i); });
#endif
}
