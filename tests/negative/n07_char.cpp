// A character as a number.
// error: a character is not a number here: write the number, or static_cast<int>(c)
#include <ashlar/ashlar.h>
using namespace ashlar;

Expr shifted(const Expr& x) {
#ifdef FIXED
  return x + 97;
#else
  return x + 'a';
#endif
}
