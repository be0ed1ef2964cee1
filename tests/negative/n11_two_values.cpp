// A stage of two values as one tensor.
// error: this stage has several values and gives a tensor for each: write auto [a, b] = compute(...)
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor peak(const Tensor& A, const Symbol& N) {
  Axis k{"k", N};
#ifdef FIXED
  auto [value, position] = compute("C", {N}, [&](Var i) { return argmax(A(i, k), k); });
  return position;
#else
  return compute("C", {N}, [&](Var i) { return argmax(A(i, k), k); });
#endif
}
