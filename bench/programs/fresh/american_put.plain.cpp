#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t options = a.size(0), steps = a.size(1);
  const double* __restrict spot = a.in<double>(0);
  const double* __restrict strike = a.in<double>(1);
  const double* __restrict volatility = a.in<double>(2);
  const double* __restrict rate = a.in<double>(3);
  double* __restrict value = a.out<double>(0);
  double* __restrict delta = a.out<double>(1);
  static std::vector<double> of_price, of_v, of_growth;
  of_price.resize(static_cast<std::size_t>(2 * steps + 1)), of_v.resize(static_cast<std::size_t>(steps + 1)),
      of_growth.resize(static_cast<std::size_t>(steps));
  double* __restrict price = of_price.data();
  double* __restrict v = of_v.data();
  double* __restrict growth = of_growth.data();
  const double dt = 1.0 / static_cast<double>(steps);
  for (std::int64_t t = 0; t < steps; ++t) growth[t] = std::exp(rate[t] * dt);
  for (std::int64_t n = 0; n < options; ++n) {
    const double up = volatility[n] * std::sqrt(dt), u = std::exp(up), d = 1 / u, k = strike[n];
    for (std::int64_t i = 0; i <= 2 * steps; ++i) price[i] = spot[n] * std::exp(up * static_cast<double>(i - steps));
    for (std::int64_t j = 0; j <= steps; ++j) v[j] = std::max(k - price[2 * j], 0.0);
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      if (t == 0) delta[n] = (v[1] - v[0]) / (price[steps + 1] - price[steps - 1]);
      const double* __restrict now = price + steps - t;
      const double q = (growth[t] - d) / (u - d), rise = q / growth[t], fall = (1 - q) / growth[t];
      for (std::int64_t j = 0; j <= t; ++j) v[j] = std::max(k - now[2 * j], rise * v[j + 1] + fall * v[j]);
    }
    value[n] = v[0];
  }
}
