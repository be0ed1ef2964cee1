// Comparisons in a chain.
// error: comparisons do not chain: write 0 <= i && i < n
#include <ashlar/ashlar.h>
using namespace ashlar;

Expr inside(const Expr& i) {
#ifdef FIXED
  return 0 <= i && i < 3;
#else
  return 0 <= i < 3;
#endif
}
