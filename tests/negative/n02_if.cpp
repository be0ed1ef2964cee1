// A choice between elements made with if.
// error: use select(c, a, b) for a choice made by the kernel
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor absolute(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return select(A(i) > 0, A(i), -A(i)); });
#else
  return compute("C", {N}, [&](Var i) {
    if (A(i) > 0) return A(i);
    return -A(i);
  });
#endif
}
