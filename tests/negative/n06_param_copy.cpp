// A Param copied out of its generator.
// error: a Param is not copied: write its value, int n = p, or hand it on by reference
// needs: ashlar/generator/generator.h
#include <ashlar/ashlar.h>
#include <ashlar/generator/generator.h>
using namespace ashlar;

struct G {
  Param<int> tile{"tile", 64};
  int twice() {
#ifdef FIXED
    int t = tile;
#else
    auto t = tile;
#endif
    return 2 * t;
  }
};
