// Schedules that the fuzzer drew: any step at any place where it is legal, on loops that a user would rarely name.
#include "cases.h"

#include <algorithm>

#include "fuzz/check.h"
#include "fuzz/program.h"

namespace traces {

namespace {

void draw(const char* target, std::uint64_t seed, std::size_t wanted, std::vector<Case>& all) {
  fuzz::Setup setup;
  setup.compile = false;
  setup.targets.push_back(ashlar::Target::parse(target));
  for (std::size_t found = 0, tried = 0; found < wanted && tried < 400; ++tried, ++seed) {
    fuzz::Case drawn;
    const fuzz::Report report = fuzz::check(seed, drawn, setup);
    // none: a program that the language refused, or no step
    if (std::count(report.applied.begin(), report.applied.end(), true) < 4 || report.json.empty()) continue;
    ++found;
    all.push_back({"fuzzed " + std::to_string(seed) + " for " + target, [=, json = report.json](const Use& use) {
                     ashlar::lang::DefinitionScope scope;
                     fuzz::Source source(drawn.program);
                     const fuzz::Made made = fuzz::make_program(source, fuzz::kind_for(setup));
                     ashlar::Schedule s(made.built, ashlar::Target::parse(target));
                     s.replay(json);
                     use(made.built, s);
                   }});
  }
}

std::vector<Case> drawn_cases() {
  std::vector<Case> all;
  draw("x86-64-v3", 1, 30, all);
  draw("cuda-sm_80", 1, 10, all);
  return all;
}

}  // namespace

std::vector<Case> fuzzed() {
  static const std::vector<Case> all = drawn_cases();
  return all;
}

}  // namespace traces
