// Saved schedules as anybody may have changed them: read and replayed over one of a few programs. The first line names the
// program and the target, the rest is the JSON.
//
// A refusal is an answer, and nothing has changed then. What is accepted is a program that the verifier passes, whose schedule
// saves to steps that make the same program again. Anything else ends the process: an exception of another kind, a signal.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <ashlar/analysis/verify.h>
#include <ashlar/schedule/step.h>

#include "fuzz/loaders/loader_programs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n'), space = input.substr(0, line).find(' ');
  if (line == std::string_view::npos || space == std::string_view::npos) return -1;
  std::optional<Target> target;
  try {
    target = Target::parse(input.substr(space + 1, line - space - 1));
  } catch (const RefusalError&) { return -1; }
  const lang::DefinitionScope scope;
  const lang::Built built = fuzz::loader_program(input.substr(0, space)).built;
  Schedule s(built, *target);
  const std::string before = s.text();
  try {
    s.replay(input.substr(line + 1));
  } catch (const RefusalError&) {
    if (s.text() != before || s.json() != "[]\n") std::abort();  // all or nothing
    return 0;
  }
  analysis::verify(s.scheduled().program);
  Schedule again(built, *target);
  again.replay(s.json());
  if (again.text() != s.text() || again.json() != s.json()) std::abort();
  return 0;
}
