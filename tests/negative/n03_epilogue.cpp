// An epilogue written on a reduction of two values.
// error: a reduction is a whole stage: name it with compute(...), then use the tensors it gives
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor biased(const Tensor& A, const Tensor& b, const Symbol& N) {
  Axis k{"k", N};
#ifdef FIXED
  const auto top = compute("top", {N}, [&](Var i) { return argmax(A(i, k), k); });
  return compute("C", {N}, [&](Var i) { return top[0](i) + b(i); });
#else
  return compute("C", {N}, [&](Var i) { return argmax(A(i, k), k) + b(i); });
#endif
}
