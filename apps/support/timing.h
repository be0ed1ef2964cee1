#pragma once
// Times of things that are run side by side: each contender takes its turn in every round, so that a noisy moment hits all of
// them.
//
//   auto t = race({[&] { ours(); }, [&] { theirs(); }}, 0.5);           // about half a second in all
//   t[0].median, t[1].median                                            // seconds
//   race({…}, 2, {.clock = Clock::thread});                             // one thread: its CPU time
//   race({…}, 2, several_threads);                                      // pools of threads beside each other
#include <functional>
#include <vector>

namespace apps {

struct Times {
  double median = 0, least = 0;  // seconds of one run
  int runs = 0;                  // turns; in each the contender runs so often that reading the clock does not count
  int interrupted = 0;           // runs during which another program took a processor from this one
};

// thread: CPU time of the calling thread, which other programs lengthen little; for contenders that start no threads.
enum class Clock { wall, thread };

struct Conditions {
  int rounds = 5;  // at least
  Clock clock = Clock::wall;
  double pause = 0;  // seconds of sleep before each turn, and one unmeasured run after it
  int runs = 1;      // measured in a turn
};

// Threads of a pool look for work for a while before they sleep, up to 40 ms (OpenBLAS), and take processors from the next
// contender meanwhile. So each turn waits until the others' threads sleep, and wakes its own.
inline constexpr Conditions several_threads{.pause = 0.06, .runs = 3};

// Runs every contender unmeasured, then in rounds until `seconds` have passed.
std::vector<Times> race(const std::vector<std::function<void()>>& contenders, double seconds, const Conditions& = {});

double now();  // seconds, monotonic

}  // namespace apps
