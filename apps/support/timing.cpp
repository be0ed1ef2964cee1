#include "apps/support/timing.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace apps {

namespace {

constexpr double shortest_measurement = 100e-6;  // seconds; reading the clock of a thread takes about half a microsecond

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
  const auto time = conditions.clock == Clock::thread ? cpu_now : now;
  std::vector<int> calls;  // in one measurement: as many as take long beside reading the clock
  for (const auto& run : contenders) {
    run();
    const double begin = time();
    run();
    calls.push_back(static_cast<int>(std::clamp(shortest_measurement / std::max(time() - begin, 1e-9), 1.0, 1000.0)));
  }
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
        for (int call = 0; call < calls[who]; ++call) contenders[who]();
        taken[who].push_back((time() - begin) / calls[who]);
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
