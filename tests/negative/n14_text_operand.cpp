// Text as a value.
// error: text is not a value: an operand is an Expr, a C++ number or a Param
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor padded(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return select(i < 3, A(i), 0); });
#else
  return compute("C", {N}, [&](Var i) { return select(i < 3, A(i), "x"); });
#endif
}
