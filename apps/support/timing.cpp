#include "apps/support/timing.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace apps {

namespace {

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

long interruptions() {  // of all threads of the process
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<Times> race(const std::vector<std::function<void()>>& contenders, double seconds, const Conditions& conditions) {
  for (const auto& run : contenders) run();
  const auto time = conditions.clock == Clock::thread ? cpu_now : now;
  std::vector<std::vector<double>> taken(contenders.size());
  std::vector<Times> times(contenders.size());
  const double end = now() + seconds;
  for (int round = 0; round < conditions.rounds || now() < end; ++round)
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t who =
          (k + static_cast<std::size_t>(round)) % contenders.size();  // nobody always runs after the same one
      if (conditions.pause > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(conditions.pause));
        contenders[who]();
      }
      for (int run = 0; run < conditions.runs; ++run) {
        const long before = interruptions();
        const double begin = time();
        contenders[who]();
        taken[who].push_back(time() - begin);
        times[who].interrupted += interruptions() > before;
      }
    }
  for (std::size_t k = 0; k < times.size(); ++k) {
    std::vector<double>& t = taken[k];
    std::sort(t.begin(), t.end());
    const std::size_t n = t.size();
    times[k].median = n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
    times[k].least = t[0], times[k].runs = static_cast<int>(n);
  }
  return times;
}

}  // namespace apps
