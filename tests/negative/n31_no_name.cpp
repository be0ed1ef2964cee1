// A stage without a name.
// error: compute: its name comes first
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor doubled(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return A(i) * 2; });
#else
  return compute({N}, [&](Var i) { return A(i) * 2; });
#endif
}
