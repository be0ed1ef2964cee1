#pragma once
// A test that cannot run here says so by name. Where everything that ran passed and something was skipped, the executable
// returns skip::code, which ctest shows as skipped (SKIP_RETURN_CODE); a failure beside it stays a failure.
//
//   if (!cuda::has_ptxas()) return skip::because("assembling", "there is no ptxas");
#include <string>

namespace skip {

constexpr int code = 77;
void because(const std::string& what, const std::string& why);

// The same for want of a Vulkan device; where ASHLAR_REQUIRE_VULKAN is set and not empty this is a failure instead.
void for_want_of_vulkan(const std::string& why);

}  // namespace skip
