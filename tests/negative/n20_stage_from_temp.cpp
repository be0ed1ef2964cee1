// A reference to a Stage, which is a value.
// error: cannot bind non-const lvalue reference of type 'ashlar::Stage&' to an rvalue of type 'ashlar::Stage'
// needs: ashlar/schedule/schedule.h
#include <ashlar/ashlar.h>
#include <ashlar/schedule/schedule.h>
using namespace ashlar;

void reordered(Schedule& s, const Tensor& C, Loop a, Loop b) {
#ifdef FIXED
  Stage st = s[C].reorder(a, b);
#else
  auto& st = s[C].reorder(a, b);
#endif
  (void)st;
}
