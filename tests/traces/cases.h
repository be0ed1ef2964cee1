#pragma once
// Schedules whose text is compiled: a program that prints the text of each during the build, and a test that applies what was
// compiled of it to the same algorithm.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace traces {

// Makes the algorithm, schedules it, and hands both over while they live.
using Use = std::function<void(const ashlar::lang::Built&, const ashlar::Schedule&)>;
struct Case {
  std::string name;
  std::function<void(const Use&)> make;
};

std::vector<Case> primitives();  // small programs, every step there is
std::vector<Case> operators();   // those of tests/support
std::vector<Case> generators();  // of apps/gallery and tests/uses
std::vector<Case> fuzzed();      // drawn by the fuzzer
inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& list : {primitives(), operators(), generators(), fuzzed()}) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// What a printed function is called with, by the number of its parameter.
struct Handles {
  std::vector<ashlar::Tensor> tensors;
  std::vector<ashlar::Expr> exprs;
  std::vector<ashlar::Intrinsic> intrinsics;
};
struct Printed {
  const char* name;
  void (*apply)(ashlar::Schedule&, const Handles&);
};
std::span<const Printed> printed();  // the generated source defines it

}  // namespace traces
