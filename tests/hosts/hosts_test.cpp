// GPUs that other processors launch: what their names mean, which are refused; the code of the device is the same on every
// host, and the object is of the processor that is named.
#include <cstring>
#include <functional>

#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/library.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/object_file.h"
#include "tests/cuda/assembler.h"
#include "tests/cuda/programs.h"
#include "tests/skip.h"

using namespace ashlar;
using codegen::Output;

namespace {

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const RefusalError& e) { return "expected " + e.refusal.expected + ", found " + e.refusal.found; }
  return "not refused";
}
std::string refusal_of(const char* name) {
  return refusal_of([&] { Target::parse(name); });
}

std::vector<Target> parsed(const std::vector<std::string>& names) {
  std::vector<Target> targets;
  for (const std::string& name : names) targets.push_back(Target::parse(name));
  return targets;
}
std::string library_of(const std::vector<std::string>& names) {
  std::string text;
  for (const Target& t : codegen::library_targets(parsed(names)))
    text += (text.empty() ? "" : " ") + std::string(t.text()) + (t.is_gpu() ? "" : "*");
  return text;
}

using Kernels = std::vector<std::pair<std::string, ir::Kernel (*)(const std::string& target)>>;
const Kernels vulkan_kernels = {
    {"add_bias", cuda::kernel_of<gpu_operators::AddBias>}, {"transpose", cuda::kernel_of<gpu_operators::Transpose>},
    {"product", cuda::kernel_of<gpu_operators::Product>},  {"softmax", cuda::kernel_of<gpu_operators::Softmax>},
    {"sum", cuda::kernel_of<gpu_operators::Sum>},          {"conv3x3", cuda::kernel_of<gpu_operators::Conv3x3>},
    {"argmax", cuda::kernel_of<gpu_operators::ArgMax>},    {"scans_in_blocks", cuda::kernel_of<gpu_operators::ScanInBlocks>}};

struct Host {
  const char *suffix, *format;
};
const Host hosts[] = {{"-aarch64", "elf64-littleaarch64"},
                      {"-aarch64-android", "elf64-littleaarch64"},
                      {"-neoverse-v2", "elf64-littleaarch64"},
                      {"-aarch64+sve+lse", "elf64-littleaarch64"},
                      {"-riscv64", "elf64-littleriscv"},
                      {"-riscv64+v", "elf64-littleriscv"},
                      {"-x86-64-v4", "elf64-x86-64"},
                      {"-windows", "COFF-x86-64"},
                      {"-mingw", "COFF-x86-64"},
                      {"-aarch64-windows", "COFF-ARM64"},
                      {"-aarch64-macos", "Mach-O arm64"}};

bool refers_only_to(const codegen::ObjectFacts& facts, const std::vector<std::string>& beginnings) {
  return std::all_of(facts.undefined.begin(), facts.undefined.end(), [&](const std::string& s) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const std::string& b) { return s.starts_with(b); });
  });
}

}  // namespace

TEST_CASE("a GPU and the processor that launches it") {
  const Target t = Target::parse("vulkan-aarch64");
  CHECK(t.is_gpu());
  CHECK(t.base() == "vulkan");
  CHECK(t.text() == "vulkan-aarch64");
  CHECK(t.architecture() == Architecture::aarch64);
  CHECK(t.triple() == "aarch64-unknown-linux-gnu");
  CHECK(Target::parse("vulkan-aarch64-linux").text() == "vulkan-aarch64");
  CHECK(Target::parse("vulkan-aarch64-android").triple() == "aarch64-unknown-linux-android21");
  CHECK(Target::parse("cuda-sm_87-aarch64").has("sm_80"));
  CHECK_FALSE(Target::parse("cuda-sm_87-aarch64").has("sm_90"));
  CHECK(Target::parse("cuda-sm_87-neoverse-n1+sve").has("sve"));
  CHECK(Target::parse("vulkan-riscv64").triple() == "riscv64-unknown-linux-gnu");
  CHECK(Target::parse("vulkan").triple() == "x86_64-unknown-linux-gnu");
  CHECK(Target::parse("vulkan-x86-64").triple() == Target::parse("vulkan").triple());
  CHECK(Target::parse("vulkan+avx2").has("avx2"));
  for (const Host& h : hosts) {  // what schedules ask
    const Target other = Target::parse(std::string("vulkan") + h.suffix), usual = Target::parse("vulkan");
    CAPTURE(h.suffix);
    CHECK(other.lanes(f32) == usual.lanes(f32));
    CHECK(other.lanes(u8) == usual.lanes(u8));
    CHECK(other.vector_registers() == usual.vector_registers());
    CHECK(other.cache_line() == usual.cache_line());
    for (int level = 1; level <= 3; ++level) CHECK(other.cache_bytes(level) == usual.cache_bytes(level));
  }
}

TEST_CASE("what launches no GPU is refused") {
  const std::string who =
      "expected a processor with 64-bit addresses and an operating system, to launch the kernels of a GPU (x86-64, aarch64, "
      "riscv64), ";
  CHECK(refusal_of("vulkan-armv7") == who + "found `armv7` in `vulkan-armv7`");
  CHECK(refusal_of("cuda-sm_87-cortex-m4") == who + "found `cortex-m4` in `cuda-sm_87-cortex-m4`");
  CHECK(refusal_of("vulkan-wasm32+simd128") == who + "found `wasm32` in `vulkan-wasm32+simd128`");
  for (const char* none : {"vulkan-none", "vulkan-aarch64-none", "cuda-sm_80-riscv64-none"})
    CHECK(refusal_of(none).find("found `-none` in `" + std::string(none) + "`") != std::string::npos);
  CHECK(refusal_of("vulkan-none").find("a system (-linux, -android, -macos, -windows, -mingw) or a feature: sse2, ") !=
        std::string::npos);
  CHECK(refusal_of("vulkan-riscv64-android").find("a system (-linux) or a feature: m, a, ") != std::string::npos);
  CHECK(refusal_of("vulkan-aarch64+avx2").find("a feature: neon, ") != std::string::npos);
  CHECK(refusal_of("vulkan-vulkan").find("found `-vulkan` in `vulkan-vulkan`") != std::string::npos);
  CHECK(refusal_of("aarch64-vulkan").find("found `-vulkan` in `aarch64-vulkan`") != std::string::npos);
}

TEST_CASE("in a library a GPU is launched by what the others are for") {
  CHECK(library_of({"vulkan", "aarch64"}) == "aarch64* vulkan-aarch64");
  CHECK(library_of({"aarch64+dotprod-android", "aarch64-android", "vulkan"}) ==
        "aarch64-android+dotprod* aarch64-android* vulkan-aarch64-android");
  CHECK(library_of({"neoverse-n1", "cuda-sm_80", "cuda-sm_87", "vulkan"}) ==
        "neoverse-n1* cuda-sm_87-aarch64 cuda-sm_80-aarch64 vulkan-aarch64");
  CHECK(library_of({"riscv64", "vulkan"}) == "riscv64* vulkan-riscv64");
  CHECK(library_of({"x86-64-v3", "vulkan"}) == "x86-64-v3* vulkan");
  CHECK(library_of({"x86-64-v3-windows", "vulkan"}) == "x86-64-v3-windows* vulkan-x86-64-windows");
  CHECK(library_of({"cuda-sm_87-aarch64", "vulkan"}) == "cuda-sm_87-aarch64 vulkan-aarch64");
  CHECK(library_of({"vulkan", "cuda-sm_87"}) == "cuda-sm_87 vulkan");
  // what the name says of the launcher stays, and has to fit
  const auto refused = [](const std::vector<std::string>& names) { return refusal_of([&] { (void)library_of(names); }); };
  const std::string one = "expected targets of one architecture and one system, found ";
  CHECK(refused({"aarch64", "vulkan-x86-64"}) == one + "aarch64 and vulkan-x86-64");
  CHECK(refused({"aarch64", "vulkan-aarch64-android"}) == one + "aarch64 and vulkan-aarch64-android");
  CHECK(refused({"x86-64", "cuda-sm_87-aarch64"}) == one + "x86-64 and cuda-sm_87-aarch64");
  CHECK(refused({"cuda-sm_80-riscv64", "vulkan-aarch64"}) == one + "cuda-sm_80-riscv64 and vulkan-aarch64");
  CHECK(refused({"aarch64", "vulkan", "vulkan-aarch64"}) ==
        "expected targets that the runtime can tell apart, found vulkan-aarch64 and vulkan-aarch64, which are both for vulkan");
  CHECK(refused({"armv7", "vulkan"}).find("a processor with 64-bit addresses") != std::string::npos);
  CHECK(refused({"aarch64-none", "vulkan"}).find("found `-none` in `vulkan-aarch64-none`") != std::string::npos);
}

TEST_CASE("shaders are the same on every host, in an object of the host's") {
  for (const auto& [name, kernel] : vulkan_kernels) {
    const std::string shaders = codegen::emit(kernel("vulkan"), Target::parse("vulkan"), Output::spirv);
    for (const Host& h : hosts) {
      const std::string text = std::string("vulkan") + h.suffix;
      CAPTURE(name);
      CAPTURE(text);
      const Target t = Target::parse(text);
      const Output both[] = {Output::spirv, Output::object};
      const auto made = codegen::emit(kernel(text), t, both);
      CHECK(made[0] == shaders);
      CHECK(made[1].find(shaders) != std::string::npos);  // the words of this machine's order, which is that of all hosts
      const codegen::ObjectFacts facts = codegen::read_object(made[1], name);
      CHECK(facts.format == h.format);
      CHECK(refers_only_to(facts, {"ashlar_abi1_call", "ashlar_abi1_prepare", "ashlar_abi1_vulkan_", "ashlar_abi1_run",
                                   "ashlar_abi1_missing", "ashlar_abi1_refuse", "mem", "_fltused", "__chkstk"}));
    }
  }
}

TEST_CASE("PTX is the same on every host, in an object of the host's") {
  for (const auto& [name, kernel] : cuda::operators()) {
    const std::string ptx = codegen::emit(kernel("cuda-sm_87"), Target::parse("cuda-sm_87"), Output::ptx);
    CHECK(ptx.find(".target sm_87") != std::string::npos);
    for (const char* host : {"-aarch64", "-riscv64"}) {
      CAPTURE(name);
      CAPTURE(host);
      const std::string text = std::string("cuda-sm_87") + host;
      const Output both[] = {Output::ptx, Output::object};
      const auto made = codegen::emit(kernel(text), Target::parse(text), both);
      CHECK(made[0] == ptx);
      CHECK(made[1].find(ptx) != std::string::npos);
      CHECK(codegen::read_object(made[1], name).format ==
            (std::string(host) == "-aarch64" ? "elf64-littleaarch64" : "elf64-littleriscv"));
    }
  }
}

TEST_CASE("PTX for a Jetson is assembled") {
  if (!cuda::has_ptxas()) return skip::because("PTX for sm_87", "there is no ptxas (of a CUDA toolkit) on this machine");
  for (const auto& [name, kernel] : cuda::operators()) {
    CAPTURE(name);
    const Target t = Target::parse("cuda-sm_87-aarch64");
    CHECK(cuda::complaints(codegen::emit(kernel("cuda-sm_87-aarch64"), t, Output::ptx), "sm_87") == "");
  }
}
