// A mistake in the body of a lambda is the only thing reported.
// error: 'undeclared' was not declared in this scope
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor shifted(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  const int undeclared = 1;
#endif
  return compute("C", {N}, [&](Var i) { return A(i) + undeclared; });
}
