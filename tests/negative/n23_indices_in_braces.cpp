// Indices are of any rank; braces are of one.
// error: compute: a lambda over Indices takes a Shape, which has any rank: write x.shape() in the place of the braces
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor twice(const Tensor& x) {
#ifdef FIXED
  return compute("y", x.shape(), [&](Indices i) { return x(i) * 2; });
#else
  return compute("y", {64}, [&](Indices i) { return x(i) * 2; });
#endif
}
