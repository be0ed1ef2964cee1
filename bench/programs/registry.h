#pragma once
// What bench/programs holds: a list that CMake writes of the files that are there.
#include <span>

#include "bench/programs/plain.h"

namespace bench::programs {

class Program;

struct Loops {
  const char* name;  // "gcc", "clang", "gcc -ffast-math", …
  bool fast_math;
  plain::Function run;  // null: that compiler is not on this machine
};

struct Entry {
  const char *area, *name;
  void (*build)(Program&);
  Loops loops[4];
};

std::span<const Entry> entries();

}  // namespace bench::programs
