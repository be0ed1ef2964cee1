// The instructions of AArch64 and Cortex-M: each one's description, run by the interpreter, against its compiled code in an
// emulator; the instruction stands in the assembly.
#include <doctest/doctest.h>

#include <cmath>

#include <ashlar/codegen/emit.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/instructions/arm.h>
#include <ashlar/instructions/cortex_m.h>

#include "tests/emulated/emulator.h"
#include "tests/instructions/site.h"
#include "tests/skip.h"

using namespace ashlar;
using instructions::Site;

namespace {

struct Row {
  Intrinsic (*make)();
  const char *target, *instruction;
};
using arm::Left;
const Row exact[] = {
    {[] { return arm::sdot(); }, "aarch64+dotprod", "sdot"},
    {[] { return arm::sdot(Left::rows); }, "aarch64+dotprod", "sdot"},
    {[] { return arm::sdot(Left::lanes); }, "aarch64+dotprod", "sdot"},
    {[] { return arm::udot(); }, "aarch64+dotprod", "udot"},
    {[] { return arm::udot(Left::rows); }, "aarch64+dotprod", "udot"},
    {[] { return arm::udot(Left::lanes); }, "aarch64+dotprod", "udot"},
    {[] { return arm::usdot(); }, "aarch64+i8mm", "usdot"},
    {[] { return arm::usdot(Left::lanes); }, "aarch64+i8mm", "sudot"},
    {[] { return arm::usdot(Left::rows); }, "aarch64+i8mm", "usdot"},
    {[] { return arm::smmla(); }, "aarch64+i8mm", "smmla"},
    {[] { return arm::ummla(); }, "aarch64+i8mm", "ummla"},
    {[] { return arm::usmmla(); }, "aarch64+i8mm", "usmmla"},
    {[] { return arm::fmla_by_lane(); }, "aarch64", ".s[1]"},
    {[] { return arm::smlal_by_lane(); }, "aarch64", "smlal"},
    {[] { return arm::bfmlal(); }, "aarch64+bf16", "bfmlalt"},
    {[] { return arm::bfmlal(Left::rows); }, "aarch64+bf16", "bfmlalb"},
    {[] { return arm::bfmlal(Left::lanes); }, "aarch64+bf16", "bfmlalb"},
};
const Row of_boards[] = {
    {[] { return cortex_m::smlad(1, 1); }, "cortex-m4", "smlad"},
    {[] { return cortex_m::smlad(2, 2); }, "cortex-m4", "smlad"},
    {[] { return cortex_m::smlad(1, 4); }, "cortex-m7", "smlad"},
    {[] { return cortex_m::vmladava(1, 1); }, "cortex-m55", "vmlava.s8"},
    {[] { return cortex_m::vmladava(2, 3); }, "cortex-m55", "vmlava.s8"},
    {[] { return cortex_m::vmladava(1, 4, {1, 8}); }, "cortex-m55", "vmlava.s16"},
    {[] { return cortex_m::vmladava(1, 2, {2, 4}); }, "cortex-m55", "vmlava.s16"},
    {[] { return cortex_m::vmladava(2, 2, {4, 4}); }, "cortex-m55", "vmlava.s8"},
};
const Row rounded[] = {
    {[] { return arm::bfdot(arm::Rounding::of_machine); }, "aarch64+bf16", "bfdot"},
    {[] { return arm::bfdot(arm::Rounding::of_machine, Left::rows); }, "aarch64+bf16", "bfdot"},
    {[] { return arm::bfdot(arm::Rounding::of_machine, Left::lanes); }, "aarch64+bf16", "bfdot"},
    {[] { return arm::bfmmla(arm::Rounding::of_machine); }, "aarch64+bf16", "bfmmla"},
};

bool emulates(const Target& t) {
  const char* why = emulated::missing(t);
  if (why) skip::because("instructions of " + std::string(t.base()) + ", emulated", why);
  return !why;
}

double any_float(std::mt19937& engine) {  // subnormal ones too
  const double m = 1 + static_cast<double>(engine() % 128) / 128;
  return engine() % 8 == 0 ? 0 : std::ldexp(engine() % 2 ? m : -m, static_cast<int>(engine() % 250) - 130);
}
double near_one(std::mt19937& engine) { return std::ldexp(static_cast<double>(engine() % 511) - 255, -8); }
double whole(std::mt19937& engine) { return static_cast<double>(engine() % 33) - 16; }

template <class Float>
void check(const Row& row, Float&& value, double relative) {
  const Intrinsic f = row.make();
  CAPTURE(f.name());
  const Target target = Target::parse(row.target);
  const Site site(f, target);
  const ir::Kernel k = site.kernel();
  const std::string text = codegen::emit(k, target, codegen::Output::assembly);
  CHECK(text.find(row.instruction) != std::string::npos);
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    interp::Arguments expected = site.arguments(seed, value), lowered = expected, found = expected;
    interp::run_algorithm(site.algorithm(), expected);
    interp::run(k, lowered);
    CHECK(interp::difference(lowered.back().array, expected.back().array) == "");
    if (!emulates(target)) continue;
    REQUIRE_NOTHROW(emulated::run(k, target, found));
    const interp::Array &is = found.back().array, &should = expected.back().array;
    const std::string differs =
        relative == 0 ? interp::difference(is, should) : interp::difference(is, should, relative, relative);
    CHECK(differs == "");
  }
}

}  // namespace

TEST_CASE("AArch64: to the bit, on random bytes and extremes, and on floats of all magnitudes") {
  for (const Row& row : exact) check(row, any_float, 0);
}

TEST_CASE("Cortex-M: to the bit, on random bytes and extremes") {
  for (const Row& row : of_boards) check(row, any_float, 0);
}

TEST_CASE("Cortex-M: tiles that there are no instructions for") {
  const auto said = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const RefusalError& e) { return e.what(); }
    return "";
  };
  CHECK(said([] { cortex_m::smlad(5, 4); }).find("expected a tile of 1 to 16 results, found 5 x 4") != std::string::npos);
  CHECK(said([] { cortex_m::vmladava(0, 1); }).find("expected a tile of 1 to 16 results, found 0 x 1") != std::string::npos);
  CHECK(said([] { cortex_m::vmladava(1, 1, {3, 4}); }).find("expected terms of 16 or 8 neighbors, found 3 x 4") !=
        std::string::npos);
}

TEST_CASE("AArch64: what Rounding::of_machine owns up to: exact sums are the same, others differ in last places") {
  for (const Row& row : rounded) check(row, whole, 0);
  for (const Row& row : rounded) check(row, near_one, 1e-5);
}
