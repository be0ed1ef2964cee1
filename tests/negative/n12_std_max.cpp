// The standard library's max.
// error: ashlar::min, max or clamp, not std::
#include <ashlar/ashlar.h>
#include <algorithm>
using namespace ashlar;

Expr larger(const Expr& a, const Expr& b) {
#ifdef FIXED
  return max(a, b);
#else
  return std::max(a, b);
#endif
}
