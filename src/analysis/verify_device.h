#pragma once
#include <ashlar/ir/kernel.h>

#include <string_view>

namespace ashlar::analysis {

// What stands inside launches; nothing is asked of a kernel without one.
void verify_launches(const ir::Kernel&, std::string_view after);

}  // namespace ashlar::analysis
