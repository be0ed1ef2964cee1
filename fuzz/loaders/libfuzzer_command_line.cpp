// Command lines of a generator as anybody may type them, one argument a line; and the targets that they name. A usage error is
// an answer, a target that does not exist a refusal. Anything else ends the process.
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/ir/refusal.h>
#include <ashlar/target/target.h>

#include "generator/command_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments(1);
  for (std::size_t k = 0; k < size; ++k)
    if (data[k] == '\n')
      arguments.emplace_back();
    else
      arguments.back() += static_cast<char>(data[k]);
  if (arguments.back().empty()) arguments.pop_back();
  try {
    for (const std::string& name : ashlar::generator::read_command_line(arguments).targets) {
      try {
        const ashlar::Target target = ashlar::Target::parse(name);
        if (ashlar::Target::parse(target.text()).text() != target.text()) __builtin_trap();  // its own name names it
      } catch (const ashlar::RefusalError&) {}
    }
  } catch (const ashlar::generator::UsageError&) {}
  return 0;
}
