// An Expr that is to begin as a number.
// error: a number has no type until it meets an Expr: write e = Expr(0.f), or e = f32(0)
#include <ashlar/ashlar.h>
using namespace ashlar;

Expr first_or_zero(const Expr& x, bool first) {
  Expr e;
#ifdef FIXED
  e = f32(0);
#else
  e = 0;
#endif
  if (first) e = x;
  return e;
}
