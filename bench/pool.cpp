// What a parallel loop costs that has nothing to do: fork, one empty body a thread, join.
#include <ashlar/runtime/runtime.h>

#include <atomic>
#include <stdexcept>

#include "apps/support/timing.h"
#include "bench/suites.h"

namespace bench {
namespace {

int nothing(void*, int32_t) { return 0; }

// Every body waits until all have begun, so that each thread must come.
struct Meeting {
  std::atomic<int> begun{0};
  int all = 0;
};
int meet(void* closure, int32_t) {
  auto& meeting = *static_cast<Meeting*>(closure);
  meeting.begun.fetch_add(1);
  while (meeting.begun.load() < meeting.all) __builtin_ia32_pause();
  return 0;
}

}  // namespace

void pool_suite(Report& report, const Machine& machine) {
  if (!report.wants("fork_join")) return;
  if (ashlar_set_threads(machine.threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
  ashlar_context context;
  ashlar_default_context(&context);
  Meeting meeting;
  meeting.all = context.parallelism;
  const std::vector<apps::Times> t =
      apps::race({[&] { (void)context.parallel_for(context.user, context.parallelism, nothing, nullptr); },
                  [&] {
                    meeting.begun = 0;
                    (void)context.parallel_for(context.user, context.parallelism, meet, &meeting);
                  }},
                 0.3, {.rounds = 1000});
  const char* shapes[] = {"empty bodies", "all threads meet"};
  for (std::size_t k = 0; k < 2; ++k)
    report.add(
        {"fork_join", shapes[k], machine.threads, "ashlar", t[k].median * 1e9, t[k].least * 1e9, t[k].median * 1e6, "us", 0});
}

}  // namespace bench
