// Objects for every processor of the table and every system that it can be for: the format, the symbols that are seen, and no
// reference beyond the closed list (codegen::emit checks that).
#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>

#include "codegen/llvm/object_file.h"
#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

// y[i] = x[i] * 2 + 1 in parallel chunks of 4 lanes, with f16 in and f32 out: a loop of threads, conversions, vectors.
ir::Kernel kernel() {
  kernels::Maker m("scale");
  const ir::Id x = m.tensor("x", f16, {ir::index(64)}), y = m.tensor("y", f32, {ir::index(64)}, true);
  const Expr i = ir::var(m.fresh(), "i"), at = ir::ramp(ir::mul(i, ir::index(4)), ir::index(1), 4);
  const Type wide = f32.with_lanes(4);
  const Expr v = ir::make(ir::Op::cast, wide, std::vector{m.load(x, at)});
  const auto splat = [&](double c) { return ir::broadcast(ir::float_const(f32, c), 4); };
  ir::KStmt loop =
      kernels::loop(i, ir::index(16), {kernels::store(y, at, ir::make(ir::Op::fma, wide, std::vector{v, splat(2), splat(1)}))});
  loop.get<ir::KFor>().kind = ir::LoopKind::parallel;
  m.k.body = {loop};
  return m.k;
}

std::string format_of(const Target& t) {
  const bool arm64 = t.architecture() == Architecture::aarch64;
  if (t.os() == "macos" || t.os() == "ios") return arm64 ? "Mach-O arm64" : "Mach-O 64-bit x86-64";
  if (t.os() == "windows" || t.os() == "mingw") return arm64 ? "COFF-ARM64" : "COFF-x86-64";
  switch (t.architecture()) {
    case Architecture::x86_64:
      return "elf64-x86-64";
    case Architecture::aarch64:
      return "elf64-littleaarch64";
    case Architecture::arm:
    case Architecture::thumb:
      return "elf32-littlearm";
    case Architecture::riscv64:
      return "elf64-littleriscv";
    case Architecture::wasm32:
      return "WASM";
  }
  return "";
}

}  // namespace

TEST_CASE("an object for every processor and system") {
  int objects = 0;
  for (const std::string& name : Target::names()) {
    if (Target::parse(name).is_gpu() || name == "host") continue;
    for (const std::string& system : Target::systems(name)) {
      const Target t = Target::parse(name + "-" + system);
      CAPTURE(std::string(t.text()));
      const std::array kinds = {codegen::Output::object, codegen::Output::static_library};
      const auto made = codegen::emit(kernel(), t, kinds);
      const codegen::ObjectFacts facts = codegen::read_object(made[0], "scale");
      CHECK(facts.format == format_of(t));
      const auto defines = [&](const char* symbol) {
        return std::find(facts.defined.begin(), facts.defined.end(), symbol) != facts.defined.end();
      };
      CHECK(defines("scale_run"));
      CHECK(defines("scale_workspace_bytes"));
      CHECK(defines("scale") == (system != "none"));
      CHECK(defines("scale_with") == (system != "none"));
      const bool calls_runtime =
          std::find(facts.undefined.begin(), facts.undefined.end(), "ashlar_abi1_call") != facts.undefined.end();
      CHECK(calls_runtime == (system != "none"));
      CHECK(made[1].starts_with("!<arch>\n"));
      CHECK(codegen::emit(kernel(), t, codegen::Output::object) == made[0]);
      ++objects;
    }
  }
  CHECK(objects >= 40);
}
