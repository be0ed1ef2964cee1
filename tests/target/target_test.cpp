// Targets: what a name stands for, and what a wrong one is told.
#include <algorithm>
#include <fstream>
#include <tuple>

#include <doctest/doctest.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/cpu.h>
#include <ashlar/target/target.h>
#include <ashlar/target/needs.h>

#include "tests/support/shell.h"

using namespace ashlar;

namespace {
std::string refusal_of(std::string_view name) {
  try {
    Target::parse(name);
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}
}  // namespace

TEST_CASE("the levels of x86-64") {
  const Target base = Target::parse("x86-64"), v2 = Target::parse("x86-64-v2"), v3 = Target::parse("x86-64-v3"),
               v4 = Target::parse("x86-64-v4");
  CHECK(base.lanes(f32) == 4);
  CHECK_FALSE(base.has("sse4.1"));
  CHECK(v2.has("sse4.2"));
  CHECK_FALSE(v2.has("fma"));
  CHECK(v3.lanes(f32) == 8);
  CHECK(v3.lanes(u8) == 32);
  CHECK(v3.vector_registers() == 16);
  CHECK(v3.has("fma"));
  CHECK(v4.lanes(f32) == 16);
  CHECK(v4.lanes(f64) == 8);
  CHECK(v4.lanes(ir::index_type) == 8);
  CHECK(v4.lanes(bool_) == 64);
  CHECK(v4.vector_registers() == 32);
  CHECK(v4.cache_bytes(1) == 48 << 10);
  CHECK(v4.cache_bytes(4) == 0);
}

TEST_CASE("caches behind a name") {
  const Target t = Target::parse("x86-64-v3+l2:1M+fma+l1:49152");
  CHECK(t.cache_bytes(1) == 48 << 10);
  CHECK(t.cache_bytes(2) == 1 << 20);
  CHECK(t.cache_bytes(3) == Target::parse("x86-64-v3").cache_bytes(3));
  CHECK(t.text() == "x86-64-v3+l2:1M+fma+l1:49152");
  CHECK(Target::parse(t.text()).cache_bytes(2) == 1 << 20);
  CHECK(Target::parse("aarch64+l3:0").cache_bytes(3) == 0);
  for (const char* wrong : {"zen4+l2:", "zen4+l2:12G", "zen4+l2:K", "zen4+l2:1234567890123"})
    CHECK(refusal_of(wrong).find("the bytes of a cache, as +l2:512K or +l3:32M") != std::string::npos);
  CHECK(refusal_of("zen4+l4:1M").find("found `+l4:1M` in `zen4+l4:1M`") != std::string::npos);
  CHECK(refusal_of("zen4-l2:1M").find("found `-l2:1M` in `zen4-l2:1M`") != std::string::npos);
}

TEST_CASE("processors of a name have its caches") {
  for (const auto& [name, first, second] : {std::tuple{"zen3", 32, 512},
                                            {"zen4", 32, 1024},
                                            {"zen5", 48, 1024},
                                            {"sapphire-rapids", 48, 2048},
                                            {"neoverse-n1", 64, 1024},
                                            {"neoverse-v2", 64, 2048}}) {
    CAPTURE(name);
    CHECK(Target::parse(name).cache_bytes(1) == first << 10);
    CHECK(Target::parse(name).cache_bytes(2) == second << 10);
    CHECK(Target::parse(name).cache_bytes(3) >= 32 << 20);
  }
}

TEST_CASE("systems and features behind a name") {
  CHECK(Target::parse("x86-64-linux").text() == "x86-64");
  CHECK(Target::parse("x86-64-v3-none").triple() == "x86_64-unknown-none-elf");
  CHECK(Target::parse("x86-64-v3-none").text() == "x86-64-v3-none");
  const Target wide = Target::parse("x86-64-v3+avx512f");
  CHECK(wide.lanes(f32) == 16);
  CHECK(wide.lanes(u8) == 32);
  const Target narrow = Target::parse("x86-64-v4-avx2");  // takes along everything that needs it
  CHECK(narrow.lanes(f32) == 4);
  CHECK(narrow.has("fma"));
  CHECK_FALSE(narrow.has("avx512f"));
  CHECK_FALSE(narrow.has("avx512bw"));
  CHECK(Target::parse("x86-64+fma").has("sse4.2"));
}

TEST_CASE("an unknown name is told the valid ones") {
  CHECK(refusal_of("x86-64-v5").find("found `-v5` in `x86-64-v5`") != std::string::npos);
  CHECK(refusal_of("arm").find("x86-64, x86-64-v2, x86-64-v3, x86-64-v4, zen3, zen4, zen5, sapphire-rapids, aarch64, "
                               "neoverse-n1, neoverse-v2, armv7, cortex-m4") != std::string::npos);
  CHECK(refusal_of("x86-64+avx9").find("found `+avx9` in `x86-64+avx9`") != std::string::npos);
  CHECK(refusal_of("x86-64-sse2").find("sse2, which every machine of x86-64 has") != std::string::npos);
  CHECK(refusal_of("").find("with -SYSTEM and +FEATURE or -FEATURE behind it, found ``") != std::string::npos);
}

TEST_CASE("AArch64") {
  const Target t = Target::parse("aarch64+dotprod");
  CHECK(t.architecture() == Architecture::aarch64);
  CHECK(t.triple() == "aarch64-unknown-linux-gnu");
  CHECK(Target::parse("aarch64-none").triple() == "aarch64-unknown-none-elf");
  CHECK(t.text() == "aarch64+dotprod");
  CHECK(t.has("neon"));
  CHECK(t.has("dotprod"));
  CHECK_FALSE(t.has("i8mm"));
  CHECK(t.lanes(f32) == 4);
  CHECK(t.lanes(u8) == 16);
  CHECK(t.vector_registers() == 32);
  std::string missing;
  CHECK_FALSE(t.runs_here(&missing));
  CHECK(missing == "neon");
  CHECK(refusal_of("aarch64+avx2").find("a feature: neon, fullfp16, dotprod, i8mm, bf16") != std::string::npos);
  CHECK(refusal_of("x86-64+dotprod").find("a feature: sse2") != std::string::npos);
  CHECK(refusal_of("aarch64-neon").find("neon, which every machine of aarch64 has") != std::string::npos);
}

TEST_CASE("features and processors whose names hold hyphens") {
  const Target t = Target::parse("sapphire-rapids-amx-int8");
  CHECK(t.text() == "sapphire-rapids-amx-int8");
  CHECK(t.has("amx-tile"));
  CHECK_FALSE(t.has("amx-int8"));
  CHECK(t.cpu() == "x86-64-v4");
  CHECK(t.tune() == "sapphirerapids");
  CHECK(Target::parse("wasm32-nontrapping-fptoint-simd128").vector_bits() == 0);
  CHECK(refusal_of("sapphire-rapids-amx-int9").find("found `-amx` in") != std::string::npos);
}

TEST_CASE("processors with addresses of 32 bits, and without an operating system") {
  const Target m4 = Target::parse("cortex-m4"), m55 = Target::parse("cortex-m55"), v7 = Target::parse("armv7+vfp4");
  CHECK(m4.os() == "none");
  CHECK(m4.text() == "cortex-m4");
  CHECK(Target::parse("cortex-m4-none").text() == "cortex-m4");
  CHECK(m4.triple() == "thumbv7em-unknown-none-eabihf");
  CHECK(m4.pointer_bytes() == 4);
  CHECK(m4.lanes(f32) == 1);
  CHECK(m4.lanes(i8) == 1);
  CHECK(m4.offers("fma"));
  CHECK_FALSE(m4.offers("fma64"));
  CHECK(m55.triple() == "thumbv8.1m.main-unknown-none-eabihf");
  CHECK(m55.lanes(i8) == 16);
  CHECK(m55.vector_registers() == 8);
  CHECK_FALSE(m55.flushes_subnormals());
  CHECK(Target::parse("cortex-m55+flush").flushes_subnormals());
  CHECK(v7.triple() == "armv7-unknown-linux-gnueabihf");
  CHECK(v7.has("fp16"));
  CHECK(v7.lanes(f32) == 4);
  CHECK(Target::parse("riscv64+v").lanes(f32) == 4);
  CHECK(Target::parse("riscv64").lanes(f32) == 1);
  CHECK(Target::parse("wasm32").lanes(u8) == 16);
  CHECK(Target::parse("aarch64-macos").triple() == "arm64-apple-macosx11.0.0");
  CHECK(Target::parse("x86-64-v3-windows").os() == "windows");
  CHECK(Target::parse("x86-64-v3-mingw").triple() == "x86_64-w64-windows-gnu");
  CHECK(refusal_of("cortex-m4-linux").find("a system (-none) or a feature: dsp") != std::string::npos);
  CHECK_THROWS_WITH_AS(Target::systems("armv9"), doctest::Contains("found `armv9`"), RefusalError);
  CHECK(refusal_of("armv7-windows").find("a system (-linux, -none, -android)") != std::string::npos);
}

namespace {
std::string added(const std::string& text) {  // what add_file says of a file that holds the text
  const test::TemporaryFolder folder;
  const std::string file = folder.file("targets.json");
  std::ofstream(file) << text;
  try {
    Target::add_file(file);
  } catch (const RefusalError& e) {
    const std::string said = e.what();
    const std::size_t at = said.find(file);
    REQUIRE(at != said.npos);
    return said.substr(at + file.size() + 2);
  }
  return "";
}
}  // namespace

TEST_CASE("a user's file adds processors and features") {
  const std::string file = R"({
    "features": {"thumb": [{"name": "my-dsp", "needs": ["dsp"], "instructions": ["smlad2"], "compiler": false}]},
    "targets": [{"name": "my-board", "is": "cortex-m7", "caches": [4096, 0, 0], "features": ["my-dsp"]}]})";
  CHECK(added(file) == "");
  CHECK(added(file) == "");  // once
  const Target t = Target::parse("my-board");
  CHECK(t.architecture() == Architecture::thumb);
  CHECK(t.cpu() == "cortex-m7");
  CHECK(t.cache_bytes(1) == 4096);
  CHECK(t.has("fp64"));
  CHECK(t.has("my-dsp"));
  CHECK(t.compiler_features().find("my-dsp") == std::string::npos);
  CHECK(t.compiler_features().find("+fp64") != std::string::npos);
  CHECK(std::find(t.instructions().begin(), t.instructions().end(), "smlad2") != t.instructions().end());
  CHECK_FALSE(Target::parse("my-board-dsp").has("my-dsp"));
}

TEST_CASE("what is no file of targets is refused with the entry, and nothing of it stays") {
  CHECK_THROWS_WITH_AS(Target::add_file("there/is/none.json"), doctest::Contains("a file of targets that can be read"),
                       RefusalError);
  CHECK(added("{").find("no JSON: ") == 0);
  CHECK(added("[]").find("the file: expected an object, found []") == 0);
  CHECK(added(R"({"target": []})").find("the file: expected one of the keys systems, features, targets, found `target`") == 0);
  CHECK(added(R"({"targets": [{"name": "x86-64", "is": "aarch64"}]})")
            .find("targets[0] (x86-64): expected a processor that is new, found one that is there") == 0);
  CHECK(added(R"({"targets": [{"name": "cuda-sm_80", "is": "aarch64"}]})")
            .find("targets[0] (cuda-sm_80): expected a processor") == 0);
  CHECK(added(R"({"targets": [{"name": "one", "is": "two"}]})")
            .find("targets[0] (one), is: expected a processor that stands before it, found `two`") == 0);
  CHECK(added(R"({"targets": [{"name": "One", "is": "x86-64"}]})").find("targets[0]: expected a name of lower-case letters") ==
        0);
  CHECK(added(R"({"targets": [{"name": "one"}]})").find("expected one of the keys `architecture` and `is`, found neither") !=
        std::string::npos);
  CHECK(added(R"({"targets": [{"name": "one", "architecture": "vax", "cpu": "x"}]})")
            .find("targets[0] (one), architecture: expected an architecture: x86-64, aarch64, arm, thumb, riscv64, wasm32") ==
        0);
  CHECK(added(R"({"targets": [{"name": "one", "architecture": "arm"}]})").find("targets[0] (one): expected the key `cpu`") ==
        0);
  CHECK(added(R"({"targets": [{"name": "one", "is": "armv7", "features": ["avx2"]}]})")
            .find("targets[0] (one), features: expected features of arm, found `avx2`") == 0);
  CHECK(added(R"({"targets": [{"name": "one", "is": "armv7", "caches": [1]}]})")
            .find("caches: expected the bytes of three levels") != std::string::npos);
  CHECK(
      added(R"({"targets": [{"name": "one", "is": "armv7", "cache_line": 48}]})").find("cache_line: expected a power of two") !=
      std::string::npos);
  CHECK(added(R"({"targets": [{"name": "one", "is": "armv7", "systems": ["windows"]}]})")
            .find("systems: expected systems that arm has, found `windows`") != std::string::npos);
  CHECK(added(R"({"features": {"arm": [{"name": "new", "needs": ["sse2"]}]}})")
            .find("features, arm[0] (new), needs: expected features of arm that stand before it, found `sse2`") == 0);
  CHECK(added(R"({"features": {"arm": [{"name": "new", "vector_bits": 100}]}})")
            .find("a power of two from 64 to 2048, found 100") != std::string::npos);
  CHECK(added(R"({"features": {"arm": [{"name": "new", "operations": ["fly"]}]}})")
            .find("fma, fma64, round or half, found `fly`") != std::string::npos);
  CHECK(added(R"({"features": {"arm": [{"name": "linux"}]}})").find("expected a name of its own, found that of a system") !=
        std::string::npos);
  // the first entry is whole, the second is not
  CHECK(added(R"({"targets": [{"name": "left", "is": "armv7"}, {"name": "right", "is": "nobody"}]})") ==
        "targets[1] (right), is: expected a processor that stands before it, found `nobody`");
  CHECK(refusal_of("left").find("with -SYSTEM and +FEATURE or -FEATURE behind it, found `left`") != std::string::npos);
}

TEST_CASE("the host runs what it detects") {
  const Target host = Target::host();
  CHECK(host.runs_here());
  CHECK(host.cache_bytes(1) > 0);
  CHECK(Target::parse("x86-64").runs_here());
  std::string missing;
  for (const std::string& name : Target::names())
    if (!Target::parse(name).runs_here(&missing)) CHECK(!missing.empty());
}

TEST_CASE("GPUs: the device, and the processor that launches it") {
  const Target vulkan = Target::parse("vulkan"), hopper = Target::parse("cuda-sm_90a+avx2");
  CHECK(vulkan.is_gpu());
  CHECK_FALSE(Target::parse("x86-64").is_gpu());
  CHECK(vulkan.device().kind == Device::Kind::vulkan);
  CHECK(vulkan.triple() == "x86_64-unknown-linux-gnu");
  CHECK(hopper.text() == "cuda-sm_90a+avx2");
  CHECK(hopper.has("avx"));
  CHECK(hopper.device().warp == 32);
  CHECK(hopper.device().shared_bytes == 232448);
  CHECK_THROWS_WITH_AS((void)Target::parse("x86-64").device(), doctest::Contains("target x86-64 has no device"), InternalError);
}

TEST_CASE("features of devices for Vulkan") {
  const Target t = Target::parse("vulkan-256+float16+subgroup32");
  CHECK(t.text() == "vulkan-256+float16+subgroup32");
  CHECK(t.has("float16"));
  CHECK(t.device().warp == 32);
  CHECK(t.device().max_threads == 256);
  CHECK(Target::parse("vulkan").device().warp == 1);
  CHECK_FALSE(Target::parse("vulkan").has("float16"));
  CHECK(Target::parse("vulkan+float16").launched_by(Target::parse("aarch64-android")).text() ==
        "vulkan-aarch64-android+float16");
  CHECK(Target::parse("vulkan+avx2+float16").text() == "vulkan+avx2+float16");
  CHECK_THROWS_WITH_AS((void)Target::parse("vulkan+subgroup8+subgroup16"), doctest::Contains("subgroups of one size"),
                       RefusalError);
  CHECK_THROWS_WITH_AS((void)Target::parse("cuda-sm_80+float16"), doctest::Contains("found `+float16` in `cuda-sm_80+float16`"),
                       RefusalError);
  CHECK_THROWS_WITH_AS((void)Target::parse("x86-64+subgroup8"), doctest::Contains("found `+subgroup8` in `x86-64+subgroup8`"),
                       RefusalError);
  for (const std::string& f : Target::vulkan_features()) CHECK(Target::parse("vulkan+" + f).has(f.c_str()));
}

TEST_CASE("what a target needs of the processor, as the runtime asks for it") {
  const auto bit = [](int number) { return std::uint64_t{1} << number; };
  const auto needs = [](const char* name) { return needs_of(Target::parse(name)).features; };
  CHECK(needs("x86-64") == bit(ASHLAR_X86_SSE2));
  CHECK(needs("x86-64-v2") == bit(ASHLAR_X86_SAHF + 1) - 1);  // all up to that
  CHECK((needs("zen4") & needs("x86-64-v4")) == needs("x86-64-v4"));
  CHECK((needs("zen4") & ~needs("x86-64-v4") & bit(ASHLAR_X86_AVX512VNNI)) != 0);
  CHECK(needs("x86-64-v4-avx2") == needs("x86-64-v3-avx2"));
  CHECK(needs("vulkan+avx") == needs("x86-64+avx"));
  CHECK(needs("aarch64+sve") == (bit(ASHLAR_AARCH64_NEON) | bit(ASHLAR_AARCH64_FULLFP16) | bit(ASHLAR_AARCH64_SVE)));
  CHECK(needs("armv7+flush") == needs("armv7"));
  CHECK(needs("armv7+vfp4") == (needs("armv7") | bit(ASHLAR_ARM_FP16) | bit(ASHLAR_ARM_VFP4)));
  CHECK(needs("riscv64+v") == (needs("riscv64") | bit(ASHLAR_RISCV_V)));
  CHECK(needs("cortex-m4") == 0);
}

TEST_CASE("features that no machine can be asked about") {
  const auto undetected = [](const char* name) { return needs_of(Target::parse(name)).undetected; };
  using Names = std::vector<std::string>;
  for (const Architecture a : {Architecture::x86_64, Architecture::aarch64, Architecture::arm, Architecture::riscv64}) {
    const std::string base = a == Architecture::arm ? "armv7" : std::string(name_of(a));
    for (const std::string& f : Target::features(a)) {  // those of the table: all but these two
      CAPTURE(f);
      const Names found = undetected((base + "+" + f).c_str());
      CHECK((found == Names{}) == (f != "zfh" && f != "zvfh"));
    }
  }
  CHECK(undetected("sapphire-rapids-android") == Names{});
  CHECK(undetected("sapphire-rapids-windows") == Names{"amx-tile", "amx-int8", "amx-bf16"});
  CHECK(undetected("aarch64-macos+dotprod") == Names{"neon", "dotprod"});
  const TargetFeature linked("linked_for_needs");
  CHECK(undetected("x86-64+linked_for_needs") == Names{"linked_for_needs"});
  CHECK(needs_of(Target::parse("x86-64+linked_for_needs")).features == needs_of(Target::parse("x86-64")).features);
  // LLVM takes a Neoverse N1 to have more than these two; who wants its timing says so
  REQUIRE(added(R"({"targets": [{"name": "my-n1", "is": "aarch64", "cpu": "neoverse-n1", "features": ["dotprod"]},
                                {"name": "my-tuned", "is": "aarch64", "tune": "neoverse-n1", "features": ["dotprod"]}]})") ==
          "");
  REQUIRE(undetected("my-n1").size() == 1);
  CHECK(undetected("my-n1")[0].find("all that LLVM's `neoverse-n1` has") == 0);
  CHECK(undetected("my-tuned") == Names{});
}
