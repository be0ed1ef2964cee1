#pragma once
// The processors that the library `which` has code for, best first, and the number that each leaves (which_gen.cpp).
#include <ashlar/target/target.h>

namespace library {

struct Processor {
  const char* target;
  int number;
};
inline constexpr Processor processors[] = {{"zen4", 5}, {"x86-64-v4", 4}, {"x86-64-v3", 3}, {"x86-64-v2", 2}, {"x86-64", 1}};

inline int best() {  // of those that run here
  static const int number = [] {
    for (const Processor& p : processors)
      if (ashlar::Target::parse(p.target).runs_here()) return p.number;
    return 0;
  }();
  return number;
}

}  // namespace library
