// The instructions of x86-64: each one's description, run by the interpreter, against its compiled code, run here, to the bit;
// the instruction stands in the assembly, and accumulators stay in registers.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/instructions/x86.h>

#include "tests/instructions/call.h"
#include "tests/instructions/site.h"
#include "tests/skip.h"
#include "tests/support/refused.h"
#include "tests/support/text_parts.h"
#ifdef ASHLAR_TEST_IN_C
#include "tests/in_c/c_compiled.h"
#endif

using namespace ashlar;
using instructions::Site;

namespace {

struct Row {
  Intrinsic (*make)();
  const char *target, *instruction, *flags;  // flags: of C compilers
};
const char* const evex = "-mavx512vnni -mavx512vl -mavx512bw";
const char* const vnni = "x86-64-v4+avx512vnni";
const char* const avx = "x86-64-v3+avxvnni";
using x86::Encoding;
const Row rows[] = {
    {[] { return x86::vpdpbusd(16); }, vnni, "vpdpbusd", evex},
    {[] { return x86::vpdpbusd(8); }, vnni, "vpdpbusd", evex},
    {[] { return x86::vpdpbusd(4); }, vnni, "vpdpbusd", evex},
    {[] { return x86::vpdpbusd(8, Encoding::vex); }, avx, "vpdpbusd", "-mavxvnni"},
    {[] { return x86::vpdpbusd(4, Encoding::vex); }, avx, "vpdpbusd", "-mavxvnni"},
    {[] { return x86::vpdpbusd_signed_broadcast(16); }, vnni, "vpdpbusd", evex},
    {[] { return x86::vpdpbusd_signed_broadcast(8, Encoding::vex); }, avx, "vpdpbusd", "-mavxvnni"},
    {[] { return x86::vpdpbusd_vectors(16); }, vnni, "vpdpbusd", evex},
    {[] { return x86::vpdpbusd_vectors(4, Encoding::vex); }, avx, "vpdpbusd", "-mavxvnni"},
    {[] { return x86::vpmaddwd_bytes(u8, i8, 16); }, "x86-64-v4", "vpmaddwd", "-mavx512bw"},
    {[] { return x86::vpmaddwd_bytes(i8, u8, 16); }, "x86-64-v4", "vpmaddwd", "-mavx512bw"},
    {[] { return x86::vpmaddwd_bytes(i8, i8, 8); }, "x86-64-v3", "vpmaddwd", "-mavx2"},
    {[] { return x86::vpmaddwd_bytes(u8, u8, 4); }, "x86-64", "pmaddwd", ""},
    {[] { return x86::vpdpwssd(16); }, vnni, "vpdpwssd", evex},
    {[] { return x86::vpdpwssd(8, Encoding::vex); }, avx, "vpdpwssd", "-mavxvnni"},
    {[] { return x86::vpmaddwd(16); }, "x86-64-v4", "vpmaddwd", "-mavx512bw"},
    {[] { return x86::vpmaddwd(8); }, "x86-64-v3", "vpmaddwd", "-mavx2"},
    {[] { return x86::vpmaddwd(4); }, "x86-64-v3", "vpmaddwd", "-mavx"},
    {[] { return x86::vpmaddwd(16, i8); }, "x86-64-v4", "vpmovsxbw", "-mavx512bw"},
    {[] { return x86::vpmaddwd(8, i8); }, "x86-64-v3", "vpmovsxbw", "-mavx2"},
    {[] { return x86::vpmaddwd(4, i8); }, "x86-64-v3", "vpmovsxbw", "-mavx"},
};

// The lines of the straight piece of code that holds the instruction, once.
std::vector<std::string> lines_around(const std::string& assembly, const std::string& instruction) {
  std::vector<std::string> piece;
  std::istringstream lines(assembly);
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '\t') {
      if (found) return piece;
      piece.clear();
      continue;
    }
    piece.push_back(line);
    found = found || line.find(instruction) != std::string::npos;
    if (line.starts_with("\tj")) {
      if (found) return piece;
      piece.clear();
    }
  }
  return piece;
}

using text_parts::count;

bool runs(const Target& t) {
  std::string missing;
  if (t.runs_here(&missing)) return true;
  skip::because("code for " + std::string(t.text()), "this machine has no " + missing);
  return false;
}

// Same bits from the algorithm, the scheduled program, the lowered kernel and compiled code.
template <class Float>
void same(const Site& site, Float&& value) {
  const ir::Kernel k = site.kernel();
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    interp::Arguments expected = site.arguments(seed, value), scheduled = expected, lowered = expected, found = expected;
    interp::run_algorithm(site.algorithm(), expected);
    interp::run(site.schedule().scheduled().program, scheduled);
    interp::run(k, lowered);
    CHECK(interp::difference(scheduled.back().array, expected.back().array) == "");
    CHECK(interp::difference(lowered.back().array, expected.back().array) == "");
    if (!runs(site.schedule().target())) continue;
    REQUIRE(instructions::call(codegen::compile(k, site.schedule().target()), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
}
double no_floats(std::mt19937&) { return 0; }

// Of all magnitudes that keep sums and products of the steps away from subnormal numbers and from infinity.
double normal(std::mt19937& engine) {
  const double m = 1 + static_cast<double>(engine() % 128) / 128;
  return engine() % 8 == 0 ? 0 : std::ldexp(engine() % 2 ? m : -m, static_cast<int>(engine() % 60) - 30);
}

}  // namespace

TEST_CASE("integers: to the bit, on random bytes and extremes, sums that wrap around included") {
  for (const Row& row : rows) {
    const Intrinsic f = row.make();
    const Target target = Target::parse(row.target);
    CAPTURE(f.name());
    const Site site(f, target);
    same(site, no_floats);
    same(Site(f, target, Scope::stack), no_floats);
  }
}

TEST_CASE("vpmaddubsw: to the bit where two products added fit 16 bits, cut off where they do not, as is said of it") {
  for (const int lanes : {16, 8, 4}) {
    const Target target = Target::parse(lanes == 16 ? "x86-64-v4" : "x86-64-v3");
    const Site site(x86::vpmaddubsw(x86::Pairs::fit, lanes), target);
    const ir::Kernel k = site.kernel();
    CHECK(codegen::emit(k, target, codegen::Output::assembly).find("vpmaddubsw") != std::string::npos);
    if (!runs(target)) continue;
    for (const bool fit : {true, false}) {
      interp::Arguments expected = site.arguments(7, no_floats);
      for (std::byte& b : expected.front().array.bytes) b = fit ? b & std::byte{0x7f} : b | std::byte{0x80};
      interp::Arguments found = expected;
      interp::run_algorithm(site.algorithm(), expected);
      REQUIRE(instructions::call(codegen::compile(k, target), found) == 0);
      CHECK((interp::difference(found.back().array, expected.back().array) == "") == fit);
    }
  }
}

TEST_CASE("in the assembly: one instruction a call, whose accumulator is no memory") {
  for (const Row& row : rows) {
    const Intrinsic f = row.make();
    CAPTURE(f.name());
    const Target target = Target::parse(row.target);
    const std::string text = codegen::emit(Site(f, target).kernel(), target, codegen::Output::assembly);
    CAPTURE(text);
    CHECK(count(text, row.instruction) == (f.name().find("_bytes") == std::string::npos ? 1 : 2));  // of even and odd bytes
    for (const std::string& line : lines_around(text, row.instruction)) {
      CAPTURE(line);
      CHECK(!(line.starts_with("\tv") && line.ends_with(")")));  // a store
    }
  }
}

#ifdef ASHLAR_TEST_IN_C
TEST_CASE("in C: the same bits by the compilers' own names for the instructions, gcc and clang in turn") {
  std::size_t turn = 0;
  for (const Row& row : rows) {
    const Intrinsic f = row.make();
    CAPTURE(f.name());
    const Target target = Target::parse(row.target);
    if (!runs(target)) continue;
    const Site site(f, target);
    in_c::Compiler cc = in_c::compilers()[turn++ % in_c::compilers().size()];
    cc.flags += std::string(" ") + row.flags;
    interp::Arguments expected = site.arguments(5, no_floats), found = expected;
    interp::run_algorithm(site.algorithm(), expected);
    REQUIRE(instructions::call(in_c::compile(site.kernel(), target, cc), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
}
#endif

TEST_CASE("vdpbf16ps: to the bit where nothing is subnormal, infinities and NaNs included") {
  for (const int lanes : {16, 8, 4}) {
    const Site site(x86::vdpbf16ps(x86::Subnormals::as_zero, lanes), Target::parse("x86-64-v4+avx512bf16"));
    same(site, normal);
    same(site, [](std::mt19937& engine) {
      static constexpr double odd[] = {std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(),
                                       3e38,
                                       -3e38,
                                       0.0,
                                       -0.0};
      return engine() % 16 < 7 ? odd[engine() % 7] : normal(engine);
    });
    const std::string text = codegen::emit(site.kernel(), Target::parse("x86-64-v4+avx512bf16"), codegen::Output::assembly);
    CHECK(count(text, "vdpbf16ps") == 1);
#ifdef ASHLAR_TEST_IN_C
    if (!runs(site.schedule().target())) continue;
    in_c::Compiler cc = in_c::compilers()[static_cast<std::size_t>(lanes / 8) % in_c::compilers().size()];
    cc.flags += " -mavx512bf16 -mavx512vl";
    interp::Arguments expected = site.arguments(5, normal), found = expected;
    interp::run_algorithm(site.algorithm(), expected);
    REQUIRE(instructions::call(in_c::compile(site.kernel(), site.schedule().target(), cc), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
#endif
  }
}

TEST_CASE("vdpbf16ps: what Subnormals::as_zero owns up to") {
  const Target target = Target::parse("x86-64-v4+avx512bf16");
  if (!runs(target)) return;
  const Site site(x86::vdpbf16ps(x86::Subnormals::as_zero), target);
  const codegen::Compiled code = codegen::compile(site.kernel(), target);
  const auto first = [&](double a, double b, double start, bool compiled) {
    interp::Arguments all = site.arguments(1, no_floats);
    const std::int64_t at[] = {0, 0, 0};
    all[0].array.set(std::span(at).first(2), ir::float_value(bf16, a));
    all[1].array.set(at, ir::float_value(bf16, b));
    all[2].array.set(std::span(at).first(2), ir::float_value(f32, start));
    if (compiled)
      REQUIRE(instructions::call(code, all) == 0);
    else
      interp::run_algorithm(site.algorithm(), all);
    return all[3].array.real({0, 0});
  };
  CHECK(first(0x1p-130, 1, 0, false) == 0x1p-130);
  CHECK(first(0x1p-130, 1, 0, true) == 0);  // an operand
  CHECK(first(0x1p-100, 0x1p-30, 0, false) == 0x1p-130);
  CHECK(first(0x1p-100, 0x1p-30, 0, true) == 0);  // a sum
  CHECK(first(0x1p-100, 0x1p-30, 1, true) == 1);
  CHECK(first(0, 1, 0x1p-130, true) == 0);  // what was there
  CHECK(first(0x1p-100, 0x1p-20, 0, true) == 0x1p-120);
}

TEST_CASE("refused: numbers of lanes that there are not, and targets without the instruction") {
  const Where here = Where::current();
  CHECK(refused([&] { x86::vpdpbusd(12, Encoding::evex, here); }).find("expected 4, 8 or 16 lanes, found 12") !=
        std::string::npos);
  CHECK(refused([&] { x86::vpdpwssd(16, Encoding::vex, here); }).find(location(here)) == 0);
  CHECK(refused([&] { x86::vpdpwssd(16, Encoding::vex, here); }).find("expected 4 or 8 lanes, found 16") != std::string::npos);
  CHECK(refused([&] {
          Site(x86::vpdpbusd(), Target::parse("x86-64-v4"));
        }).find("expected a target with avx512vnni, which vpdpbusd_16 needs, found x86-64-v4") != std::string::npos);
  CHECK(refused([&] { Site(x86::vpdpbusd(8), Target::parse("x86-64-v3+avxvnni")); }).find("a target with avx512vnni") !=
        std::string::npos);
}
