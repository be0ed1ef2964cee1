// The words of the runtime's probe are what the translator makes of this kernel. Made again with ASHLAR_WRITE_PROBE=1.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "runtime/vulkan/probe_words.h"
#include "tests/source_dir.h"
#include "tests/vulkan/device.h"

using namespace ashlar;
using kernels::Maker;

namespace {

ir::Kernel probe(Type t) {
  Maker m("probe");
  const ir::Id x = m.tensor("x", t, {ir::index(16)}, true);
  const vulkan::Launching l(m, "probe", 4);
  auto at = [&](std::int64_t k) { return ir::add(ir::mul(l.thread, ir::index(4)), ir::index(k)); };
  m.k.body = {vulkan::launch(l, {ir::index(1)},
                             {kernels::store(x, at(3), ir::fma(m.load(x, at(0)), m.load(x, at(1)), m.load(x, at(2))))})};
  return m.k;
}

std::string table(const char* name, const std::vector<std::uint32_t>& words) {
  std::string text = std::string("static const uint32_t ") + name + "[] = {";
  for (std::size_t k = 0; k < words.size(); ++k) {
    char word[16];
    std::snprintf(word, sizeof word, "0x%08x,", words[k]);
    text += (k % 10 == 0 ? "\n    " : " ") + std::string(word);
  }
  return text + "\n};\n";
}

}  // namespace

TEST_CASE("the probe of the runtime is the translator's") {
  const codegen::spirv::Options narrow{.index32 = true};  // it runs also where there are no 64-bit integers
  const codegen::spirv::Code one = codegen::spirv::translate(probe(f32), narrow),
                             two = codegen::spirv::translate(probe(f64), narrow);
  if (std::getenv("ASHLAR_WRITE_PROBE")) {
    std::ofstream out(source_dir() + "/src/runtime/vulkan/probe_words.h");
    out << "/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */\n/* Made by tests/vulkan/probe_test.cpp, which also "
           "holds the kernel: x[4 t + 3] = fma(x[4 t], x[4 t + 1], x[4 t + "
           "2]) of"
           "\n * thread t, x being the only parameter. */\n#include <stdint.h>\n\n// clang-format off\n"
        << table("kProbe32", one.words) << "\n"
        << table("kProbe64", two.words) << "// clang-format on\n";
    return;
  }
  CHECK(one.words == std::vector<std::uint32_t>(std::begin(kProbe32), std::end(kProbe32)));
  CHECK(two.words == std::vector<std::uint32_t>(std::begin(kProbe64), std::end(kProbe64)));
  for (const codegen::spirv::Code& code : {one, two}) {
    CHECK(code.entries.at(0).parameter_bytes == 8);
    CHECK((code.features & ASHLAR_VULKAN_INT64) == 0);
  }
}
