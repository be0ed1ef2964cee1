// The product of programs.h on a device, and what a refusal of one of its steps says.
#pragma once

#include "tests/schedule/programs.h"

namespace ashlar::test {

// The refusal that a step meets, or "(accepted)".
template <class F>
std::string outcome(F&& step) {
  try {
    step();
  } catch (const RefusalError& e) { return e.refusal.text(); }
  return "(accepted)";
}

inline std::string finished(const Schedule& s) {
  return outcome([&] { schedule::finish(s.scheduled(), s.target()); });
}

struct OnDevice : Product {
  explicit OnDevice(const char* target = "vulkan") { s = Schedule(built, Target::parse(target)); }
  Stage result() const { return s[C]; }
  Stage sums() const { return s[product]; }
  std::string finished() const { return test::finished(s); }
};

// What a golden file of refusals holds: each with what it is about.
struct Text {
  std::string text;
  void operator()(const char* what, const std::string& found) { text += std::string(what) + "\n  " + found + "\n"; }
};

}  // namespace ashlar::test
