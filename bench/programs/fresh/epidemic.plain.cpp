#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t regions = a.size(0), days = a.size(1);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict near = a.in<std::int32_t>(1);
  const double* __restrict travel = a.in<double>(2);
  const double* __restrict people = a.in<double>(3);
  const double* __restrict rate = a.in<double>(4);
  const double* __restrict seeds = a.in<double>(5);
  double* __restrict infected = a.out<double>(0);
  std::int32_t* __restrict peak = a.out<std::int32_t>(1);
  double* __restrict spared = a.out<double>(2);
  static std::vector<double> of_open, of_share, of_most;
  of_open.resize(static_cast<std::size_t>(regions)), of_share.resize(static_cast<std::size_t>(regions)),
      of_most.resize(static_cast<std::size_t>(regions));
  double* __restrict open = of_open.data();
  double* __restrict share = of_share.data();
  double* __restrict most = of_most.data();
  for (std::int64_t r = 0; r < regions; ++r) {
    open[r] = people[r] - seeds[r];
    infected[r] = most[r] = seeds[r];
    peak[r] = 0;
  }
  for (std::int64_t t = 1; t < days; ++t) {
    const double* __restrict before = infected + (t - 1) * regions;
    double* __restrict now = infected + t * regions;
    for (std::int64_t r = 0; r < regions; ++r) share[r] = before[r] / people[r];
    for (std::int64_t r = 0; r < regions; ++r) {
      double carried = 0;
      for (std::int64_t e = first[r]; e < first[r + 1]; ++e) carried += travel[e] * share[near[e]];
      const double caught = std::min(open[r] * rate[t] * (0.8 * share[r] + carried), open[r]);
      open[r] -= caught;
      now[r] = before[r] + caught - 0.12 * before[r];
      if (now[r] > most[r]) most[r] = now[r], peak[r] = static_cast<std::int32_t>(t);
    }
  }
  for (std::int64_t r = 0; r < regions; ++r) spared[r] = open[r] / people[r];
}
