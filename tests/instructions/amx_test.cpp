// AMX: descriptions run by the interpreter against the loops that they stand for, and the instructions in the assembly. The
// code runs where a machine has AMX; elsewhere that is said.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/instructions/amx.h>

#include "tests/instructions/call.h"
#include "tests/instructions/site.h"
#include "tests/skip.h"

using namespace ashlar;
using instructions::Site;

namespace {

bool runs(const Target& t) {  // the processor, and the system that gives its registers
  std::string missing;
  if (t.runs_here(&missing)) return true;
  skip::because("running AMX code for " + std::string(t.text()), "this machine has no " + missing);
  return false;
}

double whole(std::mt19937& engine) { return static_cast<double>(engine() % 33) - 16; }

void check(const Intrinsic& f, const char* name, const char* instruction) {
  CAPTURE(f.name());
  const Target target = Target::parse(name);
  const Site site(f, target, Scope::stack);
  const ir::Kernel k = site.kernel();
  const std::string text = codegen::emit(k, target, codegen::Output::assembly);
  for (const char* word : {instruction, "ldtilecfg", "tileloadd", "tilestored"}) CHECK(text.find(word) != std::string::npos);
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    interp::Arguments expected = site.arguments(seed, whole), scheduled = expected, erased = expected, lowered = expected,
                      found = expected;
    interp::run_algorithm(site.algorithm(), expected);
    interp::run(site.schedule().scheduled().program, scheduled);
    interp::Options by_loops;
    by_loops.intrinsics = interp::Options::Intrinsics::erased;
    interp::run(site.schedule().scheduled().program, erased, by_loops);
    interp::run(k, lowered);
    for (const interp::Arguments* a : {&scheduled, &erased, &lowered})
      CHECK(interp::difference(a->back().array, expected.back().array) == "");
    if (!runs(target)) continue;
    REQUIRE(instructions::call(codegen::compile(k, target), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
}

}  // namespace

TEST_CASE("AMX: tiles of bytes, all four combinations of signs") {
  check(amx::tdpbusd(), "x86-64-v4+amx-int8", "tdpbusd");
  check(amx::tdpbssd(), "x86-64-v4+amx-int8", "tdpbssd");
  check(amx::tdpbsud(), "x86-64-v4+amx-int8", "tdpbsud");
  check(amx::tdpbuud(), "x86-64-v4+amx-int8", "tdpbuud");
}

TEST_CASE("AMX: tiles of bf16, exact sums") {
  check(amx::tdpbf16ps(amx::Rounding::of_machine), "x86-64-v4+amx-bf16", "tdpbf16ps");
}
