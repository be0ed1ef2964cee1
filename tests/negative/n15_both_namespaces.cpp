// With both namespaces open, Exprs find our max but Vars find the standard one.
// error: ashlar::min, max or clamp, not std::
#include <ashlar/ashlar.h>
#include <algorithm>
using namespace std;
using namespace ashlar;

Expr larger(const Expr& a, Var i, Var j) {
  Expr c = max(a, a);
#ifdef FIXED
  return ashlar::max(i, j) + c;
#else
  return max(i, j) + c;
#endif
}
