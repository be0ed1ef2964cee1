// A choice between elements made with ?:.
// error: use select(c, a, b) for a choice made by the kernel
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor start(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return select(i < 3, A(i), A(0)); });
#else
  return compute("C", {N}, [&](Var i) { return i < 3 ? A(i) : A(0); });
#endif
}
