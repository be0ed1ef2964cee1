// Targets: what a name stands for, and what a wrong one is told.
#include <doctest/doctest.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/target.h>

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
  CHECK(refusal_of("x86-64-v5").find("-v5") != std::string::npos);
  CHECK(refusal_of("arm").find("x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, host") != std::string::npos);
  CHECK(refusal_of("x86-64+avx9").find("avx512f") != std::string::npos);
  CHECK(refusal_of("x86-64-sse2").find("every x86-64 machine has") != std::string::npos);
  CHECK(refusal_of("").find("``") != std::string::npos);
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
  CHECK(refusal_of("aarch64-neon").find("neon, which every AArch64 machine has") != std::string::npos);
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
  CHECK_THROWS_AS((void)Target::parse("x86-64").device(), InternalError);
}
