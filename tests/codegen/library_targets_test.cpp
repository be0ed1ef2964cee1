// The targets of a library: the order in which the runtime tries them, what its entries are compiled for, what is refused.
#include <doctest/doctest.h>

#include <ashlar/codegen/library.h>
#include <ashlar/ir/refusal.h>

using namespace ashlar;

namespace {

std::vector<Target> parse(const std::vector<std::string>& names) {
  std::vector<Target> targets;
  for (const std::string& name : names) targets.push_back(Target::parse(name));
  return targets;
}

std::string order(const std::vector<std::string>& names) {
  std::string text;
  for (const Target& t : codegen::library_targets(parse(names))) text += (text.empty() ? "" : " ") + std::string(t.text());
  return text;
}

std::string refusal_of(const std::vector<std::string>& names) {
  try {
    (void)codegen::library_targets(parse(names));
  } catch (const RefusalError& e) { return e.refusal.expected + "; " + e.refusal.found; }
  return "";
}

}  // namespace

TEST_CASE("what needs more of a processor comes first") {
  CHECK(order({"x86-64", "zen4", "x86-64-v2", "sapphire-rapids", "x86-64-v4", "x86-64-v3"}) ==
        "sapphire-rapids zen4 x86-64-v4 x86-64-v3 x86-64-v2 x86-64");
  CHECK(order({"x86-64-v4", "x86-64-v4+avx512vnni"}) == "x86-64-v4+avx512vnni x86-64-v4");
  CHECK(order({"cuda-sm_80", "vulkan", "x86-64", "cuda-sm_90a", "x86-64-v3"}) ==
        "x86-64-v3 x86-64 cuda-sm_90a cuda-sm_80 vulkan");
  CHECK(order({"cuda-tile", "cuda-sm_90", "cuda-sm_80", "vulkan", "cuda-tile-sm_90", "cuda-sm_90a"}) ==
        "cuda-tile-sm_90 cuda-sm_90a cuda-sm_90 cuda-tile cuda-sm_80 vulkan");
  // of devices for Vulkan what asks for more comes first
  CHECK(order({"vulkan", "vulkan-1024", "vulkan+float16", "vulkan-256+float16+subgroup32"}) ==
        "vulkan-256+float16+subgroup32 vulkan+float16 vulkan-1024 vulkan");
}

TEST_CASE("of two that each have what the other lacks, the one that was given first") {
  CHECK(order({"aarch64+dotprod", "aarch64", "aarch64+sve"}) == "aarch64+dotprod aarch64+sve aarch64");
  CHECK(order({"aarch64+sve", "aarch64", "aarch64+dotprod"}) == "aarch64+sve aarch64+dotprod aarch64");
  // one that has all of both comes before either
  CHECK(order({"aarch64+dotprod", "aarch64+sve", "aarch64+sve+dotprod", "aarch64"}) ==
        "aarch64+sve+dotprod aarch64+dotprod aarch64+sve aarch64");
}

TEST_CASE("the entries are for what all have") {
  const auto common = [](const std::vector<std::string>& names) {
    const Target t = codegen::common_target(parse(names));
    return std::string(t.text()) + " " + std::string(t.triple());
  };
  CHECK(common({"zen4", "x86-64-v3"}) == "x86-64 x86_64-unknown-linux-gnu");
  CHECK(common({"x86-64-v3-windows", "x86-64-windows"}) == "x86-64-windows x86_64-pc-windows-msvc");
  CHECK(common({"aarch64+sve-android", "aarch64-android"}) == "aarch64-android aarch64-unknown-linux-android21");
  CHECK(common({"armv7-neon", "armv7+vfp4"}) == "armv7-neon armv7-unknown-linux-gnueabihf");
  CHECK(common({"cuda-sm_80", "vulkan"}) == "x86-64 x86_64-unknown-linux-gnu");
}

TEST_CASE("what the runtime could not tell apart, or could not ask for") {
  const TargetFeature linked("linked_library");
  CHECK(
      refusal_of({"x86-64", "x86-64-v3", "x86-64+linked_library+avx2"}) ==
      "features that the runtime can detect, where there are several targets for processors; x86-64+linked_library+avx2, which "
      "needs linked_library");
  CHECK(refusal_of({"x86-64+linked_library", "vulkan"}) == "");  // it has no choice of processors
  CHECK(refusal_of({"x86-64+linked_library"}) == "");
  CHECK(refusal_of({"riscv64", "riscv64+zvfh"}) ==
        "features that the runtime can detect, where there are several targets for processors; riscv64+zvfh, which needs zfh");
  CHECK(refusal_of({"aarch64-ios", "aarch64-ios+i8mm"}) ==
        "features that the runtime can detect, where there are several targets for processors; aarch64-ios, on a system "
        "that does not tell them");
}
