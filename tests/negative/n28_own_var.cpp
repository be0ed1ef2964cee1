// A Var that stands outside of any definition.
// error: a Var is a parameter of the lambda that defines a tensor
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor doubled(const Tensor& A, const Symbol& N) {
#ifndef FIXED
  Var x{"x"};
#endif
  return compute("C", {N}, [&](Var i) { return A(i) * 2; });
}
