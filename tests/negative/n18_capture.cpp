// Capture by value: the compiler warns of the implicit this, and nothing worse happens.
// warning: implicit capture of 'this' via '[=]' is deprecated
#include <ashlar/ashlar.h>
using namespace ashlar;

struct G {
  Tensor A, B;
  Symbol N{"N"};
  Tensor product_of() {
#ifdef FIXED
    return compute("C", {N}, [&](Var i) { return A(i) * B(i); });
#else
    return compute("C", {N}, [=](Var i) { return A(i) * B(i); });
#endif
  }
};
