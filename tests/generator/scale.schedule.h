#include <ashlar/schedule/schedule.h>

inline void times3_schedule(ashlar::Schedule& s, const ashlar::Tensor& y) {
  using namespace ashlar;
  auto [i0] = s[y].spatial<1>();
  s[y].vectorize(i0, 8);
}
