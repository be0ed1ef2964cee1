// Neither extents nor a written rank.
// error: compute without extents: write the parameters as Var, not auto, so that the rank is known
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor same(const Tensor& A) {
#ifdef FIXED
  return compute("C", [&](Var i) { return A(i); });
#else
  return compute("C", [&](auto i) { return A(i); });
#endif
}
