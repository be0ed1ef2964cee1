// The loops of a stage, without how many.
// error: spatial: write how many dimensions the stage has
#include <ashlar/ashlar.h>
using namespace ashlar;

void in_lanes(Schedule& s, const Tensor& C) {
#ifdef FIXED
  auto [i] = s[C].spatial<1>();
#else
  auto [i] = s[C].spatial();
#endif
  s[C].vectorize(i, 8);
}
