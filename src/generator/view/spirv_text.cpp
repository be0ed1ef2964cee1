// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/view/spirv_text.h"

#ifdef ASHLAR_HAS_SPIRV
#include <cstdint>
#include <cstring>
#include <vector>

#include <ashlar/codegen/spirv.h>
#endif

namespace ashlar::generator::view {

#ifdef ASHLAR_HAS_SPIRV
std::string spirv_text(const std::string& module) {
  std::vector<std::uint32_t> words(module.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), module.data(), words.size() * sizeof(std::uint32_t));
  return codegen::spirv::disassemble(words);
}
#else
std::string spirv_text(const std::string&) { return {}; }
#endif

}  // namespace ashlar::generator::view
