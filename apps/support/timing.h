#pragma once
// Times of things that are run side by side: each contender once in every round, so that a noisy moment hits all of them.
//
//   auto t = race({[&] { ours(); }, [&] { theirs(); }}, 0.5);     // about half a second in all
//   t[0].median, t[1].median                                      // seconds
#include <functional>
#include <vector>

namespace apps {

struct Times {
  double median = 0, least = 0;  // seconds of one run
  int runs = 0;
};

// Runs every contender once unmeasured, then in rounds (at least `rounds`) until `seconds` have passed.
std::vector<Times> race(const std::vector<std::function<void()>>& contenders, double seconds, int rounds = 5);

double now();  // seconds, monotonic

}  // namespace apps
