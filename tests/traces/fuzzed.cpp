// Schedules that the fuzzer drew: any step at any place where it is legal, on loops that a user would rarely name.
#include "cases.h"

#include <algorithm>

#include "fuzz/check.h"
#include "fuzz/program.h"

namespace traces {

namespace {

std::vector<Case> drawn_cases() {
  std::vector<Case> all;
  for (std::uint64_t seed = 1; all.size() < 30 && seed < 400; ++seed) {
    fuzz::Setup setup;
    setup.compile = false;
    fuzz::Case drawn;
    const fuzz::Report report = fuzz::check(seed, drawn, setup);
    if (report.json.empty() || report.json == "[]\n") continue;  // a program that the language refused, or no step
    if (std::count(report.applied.begin(), report.applied.end(), true) < 4) continue;
    all.push_back({"fuzzed " + std::to_string(seed), [drawn, json = report.json](const Use& use) {
                     ashlar::lang::DefinitionScope scope;
                     fuzz::Source source(drawn.program);
                     const fuzz::Made made = fuzz::make_program(source);
                     ashlar::Schedule s(made.built, ashlar::Target());
                     s.replay(json);
                     use(made.built, s);
                   }});
  }
  return all;
}

}  // namespace

std::vector<Case> fuzzed() {
  static const std::vector<Case> all = drawn_cases();
  return all;
}

}  // namespace traces
