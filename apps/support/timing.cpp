#include "apps/support/timing.h"

#include <algorithm>
#include <chrono>

namespace apps {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<Times> race(const std::vector<std::function<void()>>& contenders, double seconds, int rounds) {
  for (const auto& run : contenders) run();
  std::vector<std::vector<double>> taken(contenders.size());
  const double end = now() + seconds;
  for (int round = 0; round < rounds || now() < end; ++round)
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t who =
          (k + static_cast<std::size_t>(round)) % contenders.size();  // nobody always runs after the same one
      const double begin = now();
      contenders[who]();
      taken[who].push_back(now() - begin);
    }
  std::vector<Times> times;
  for (std::vector<double>& t : taken) {
    std::sort(t.begin(), t.end());
    const std::size_t n = t.size();
    times.push_back({n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2, t[0], static_cast<int>(n)});
  }
  return times;
}

}  // namespace apps
