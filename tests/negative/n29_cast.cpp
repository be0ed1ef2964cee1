// A conversion that is written as Halide's.
// error: a conversion is written with the type's name: u8(x), f32(x); saturate(u8, x) clamps
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor bytes(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return compute("C", {N}, [&](Var i) { return u8(A(i)); });
#else
  return compute("C", {N}, [&](Var i) { return cast<std::uint8_t>(A(i)); });
#endif
}
