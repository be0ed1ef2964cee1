// A conversion that is written as C's.
// error: its conversion to another type is written with the type's name, f32(x), u8(x)
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor floats(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return f32(A(i)) / 3; });
#else
  return compute("C", {N}, [&](Var i) { return static_cast<float>(A(i)) / 3; });
#endif
}
