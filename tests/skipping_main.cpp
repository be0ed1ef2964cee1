// doctest's main for executables whose tests may be skipped (tests/skip.h).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/skip.h"
#include "tests/source_dir.h"

std::string source_dir() { return ASHLAR_SOURCE_DIR; }

namespace skip {
namespace {

struct State {
  std::set<std::string> said;
  bool refused = false;
};
State& state() {
  static State s;
  return s;
}

}  // namespace

void because(const std::string& what, const std::string& why) {
  if (state().said.insert(what).second) std::printf("skipped: %s, %s\n", what.c_str(), why.c_str());
}

void for_want_of_vulkan(const std::string& why) {
  const char* require = std::getenv("ASHLAR_REQUIRE_VULKAN");
  if (!require || !*require) return because("what runs on a Vulkan device", why);
  if (!state().refused) std::printf("ASHLAR_REQUIRE_VULKAN is set, and there is no Vulkan device: %s\n", why.c_str());
  state().refused = true;
}

}  // namespace skip

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
  if (context.shouldExit()) return failed;
  if (failed || skip::state().refused) return 1;
  return skip::state().said.empty() ? 0 : skip::code;
}
