// One index for a table of two dimensions.
// error: scatter: put(value, indices...) has one index for each extent of the result
#include <ashlar/ashlar.h>
using namespace ashlar;

Tensor histogram(const Tensor& A, const Symbol& N) {
#ifdef FIXED
  return scatter("h", {256, 256}, Combine::add, 0, {N}, [&](Var i) { return put(1, A(i), A(i)); });
#else
  return scatter("h", {256, 256}, Combine::add, 0, {N}, [&](Var i) { return put(1, A(i)); });
#endif
}
