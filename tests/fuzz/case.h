#pragma once
// A fuzzed case: a small program and a schedule for it, as two lists of numbers. Each number is read modulo what there is to
// choose from, so every list means something, and a failing case shrinks by dropping entries.
//
//   type 1 facts 0 shapes 5x7,16x9 stages 0.1.2.3 6.0.0.0 steps 0.3.1.2 7.1.4.0
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

namespace fuzz {

using namespace ashlar;
using Entry = std::array<std::uint32_t, 4>;

struct Case {
  std::uint32_t type = 0, facts = 0;
  std::vector<std::array<std::int64_t, 2>> shapes;  // values of the symbols H and W
  std::vector<Entry> stages, steps;
};

Case random_case(std::uint64_t seed);
std::string text(const Case&);
Case parse(const std::string&);

// The program, with the Type of its tensors; defined in the current DefinitionScope.
lang::Built build(const Case&);
Type type_of(const Case&);

// The step that an entry stands for in a program as it is; false where the program has nothing that it could name.
bool step_of(const Entry&, const ir::Program&, schedule::Step&);

struct Outcome {
  std::string kind;  // "" if all agree; "scheduled", "lowered", "compiled", "internal error in split", ...
  std::string what;
  int applied = 0, refused = 0;
  bool ran_kernel = false, ran_code = false;
  std::string program, trace;  // for people, where it failed
};
Outcome check(const Case&, bool compiled);
Case shrink(const Case&, bool compiled, const Outcome& failure);

}  // namespace fuzz
