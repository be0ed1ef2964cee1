// A value added to an element, as in an update of Halide's.
// error: an element is not assigned
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor total(const Tensor& A, const Symbol& N) {
  const Axis k{"k", N};
#ifdef FIXED
  return compute("C", [&] { return sum(A(k), k); });
#else
  Tensor C = compute("C", [&] { return f32(0); });
  C() += A(k);
  return C;
#endif
}
