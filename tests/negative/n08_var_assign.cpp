// A Var assigned.
// error: is not assigned: write Expr next = i + 1
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor next_of(const Tensor& A, const Symbol& N) {
  return compute("C", {N}, [&](Var i) {
#ifdef FIXED
    Expr next = i + 1;
    return A(next);
#else
    i += 1;
    return A(i);
#endif
  });
}
