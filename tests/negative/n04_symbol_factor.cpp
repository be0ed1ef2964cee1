// A split by an extent that is known only at the call.
// error: a factor is a C++ number or a Param, decided when the generator runs
// needs: ashlar/schedule/schedule.h
#include <ashlar/ashlar.h>
#include <ashlar/schedule/schedule.h>
using namespace ashlar;

void tiled(const Stage& s, Loop i, const Symbol& N) {
#ifdef FIXED
  s.split(i, 64);
  (void)N;
#else
  s.split(i, N);
#endif
}
