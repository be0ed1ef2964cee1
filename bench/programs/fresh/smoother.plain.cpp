#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t steps = a.size(0), tracks = a.size(1), all = steps * tracks;
  constexpr double dt = 0.1, noise = 0.04, qp = 2.5e-5, qv = 5e-4, qr = 1e-2;
  const double* __restrict z = a.in<double>(0);
  const std::uint8_t* __restrict seen = a.in<std::uint8_t>(1);
  double* __restrict place = a.out<double>(0);
  double* __restrict speed = a.out<double>(1);
  static std::vector<double> space;
  space.resize(static_cast<std::size_t>(5 * all));
  double* __restrict x = space.data();
  double* __restrict v = x + all;
  double* __restrict pp = v + all;
  double* __restrict pv = pp + all;
  double* __restrict vv = pv + all;
  for (std::int64_t n = 0; n < tracks; ++n) x[n] = z[n], v[n] = 0, pp[n] = 1, pv[n] = 0, vv[n] = 1;
  for (std::int64_t t = 1; t < steps; ++t)
    for (std::int64_t n = 0; n < tracks; ++n) {
      const std::int64_t i = t * tracks + n, b = i - tracks;
      const double ahead = x[b] + dt * v[b], a0 = pp[b] + 2 * dt * pv[b] + dt * dt * vv[b] + qp, a1 = pv[b] + dt * vv[b] + qv,
                   a2 = vv[b] + qr;
      const double s = a0 + noise, e = z[i] - ahead;
      const bool taken = (seen[i] != 0) & (e * e < 9 * s);
      const double k = taken ? a0 / s : 0, l = taken ? a1 / s : 0;
      x[i] = ahead + k * e;
      v[i] = v[b] + l * e;
      pp[i] = (1 - k) * a0;
      pv[i] = (1 - k) * a1;
      vv[i] = a2 - l * a1;
    }
  for (std::int64_t n = 0; n < tracks; ++n) {
    const std::int64_t i = (steps - 1) * tracks + n;
    place[i] = x[i], speed[i] = v[i];
  }
  for (std::int64_t t = steps - 2; t >= 0; --t)
    for (std::int64_t n = 0; n < tracks; ++n) {
      const std::int64_t i = t * tracks + n, later = i + tracks;
      const double a1 = pv[i] + dt * vv[i] + qv, a2 = vv[i] + qr, a0 = pp[i] + 2 * dt * pv[i] + dt * dt * vv[i] + qp;
      const double det = a0 * a2 - a1 * a1, f0 = pp[i] + dt * pv[i], f1 = pv[i] + dt * vv[i];
      const double dx = place[later] - (x[i] + dt * v[i]), dv = speed[later] - v[i];
      const double gx = (a2 * dx - a1 * dv) / det, gv = (a0 * dv - a1 * dx) / det;
      place[i] = x[i] + f0 * gx + pv[i] * gv;
      speed[i] = v[i] + f1 * gx + vv[i] * gv;
    }
}
