// The use h: a product by a user's instruction on CUDA. Its kernel, as lowered, is the algorithm's for whole and ragged sizes,
// run with the search for races on; and ptxas takes it for every chip without a complaint.
#include <doctest/doctest.h>

#include <span>

#include <ashlar/codegen/ptx.h>
#include <ashlar/generator/compile.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/report/explain.h>

#include "tests/cuda/assembler.h"
#include "tests/skip.h"
#include "tests/uses/h_gpu_matmul.cpp"

namespace {

Instance<GpuMatmul> scheduled(const Target& target, const std::vector<std::pair<std::string, std::string>>& params) {
  return {[]() -> Generator* { return new GpuMatmul; }, "gpu_matmul", target, params, Where::current()};
}

void same(const Instance<GpuMatmul>& gpu, std::int64_t m, std::int64_t n, std::int64_t k) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  std::int64_t seed = 1;
  const auto small = [&](std::span<const std::int64_t>) {  // sums of products of small integers are exact
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return static_cast<double>(seed / 65536 % 9) - 4;
  };
  interp::Arguments found;
  found.emplace_back(interp::Array::make(f16, {m, k}, small));
  found.emplace_back(interp::Array::make(f16, {k, n}, small));
  found.emplace_back(interp::Array::zeros(f32, {m, n}));
  interp::Arguments expected = found;
  interp::run_algorithm(gpu.algorithm(), expected);
  interp::Options options;
  options.races = true;
  REQUIRE_NOTHROW(interp::run(gpu.kernel(), found, options));
  CHECK(interp::difference(found[2].array, expected[2].array) == "");
}

}  // namespace

TEST_CASE("the product on the device is the algorithm's") {
  for (const char* stages : {"2", "3"})
    for (const char* edge : {"64", "128"}) {
      CAPTURE(stages);
      const auto gpu = scheduled(Target::parse("cuda-sm_80"), {{"stages", stages}, {"tile_m", "128"}, {"tile_n", edge}});
      same(gpu, 128, 64, 64);
      same(gpu, 144, 72, 48);
      same(gpu, 16, 8, 16);
      same(gpu, 48, 200, 112);
      same(gpu, 16, 8, 0);
    }
}

TEST_CASE("explain() compares a user's instruction with the rate of the matrix units") {
  const auto at_least = [](const char* target) {
    const Target t = Target::parse(target);
    const std::string text = explain(scheduled(t, {}).kernel(), t, {{"M", 1024}, {"N", 1024}, {"K", 1024}});
    const std::size_t at = text.find("  at least");
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  // 2 * 1024^3 operations at 312e12 and 989.4e12 a second
  CHECK(at_least("cuda-sm_80").find("6.883 us, by operations in f16 by the user's intrinsics") != std::string::npos);
  CHECK(at_least("cuda-sm_90a").find("operations 2.17 us)") != std::string::npos);
}

TEST_CASE("a tile whose accumulators do not fit the registers of a multiprocessor is refused") {
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"}) {
    std::string text = "accepted";
    try {
      (void)scheduled(Target::parse(target), {{"tile_m", "256"}, {"tile_n", "256"}}).kernel();
    } catch (const RefusalError& e) { text = e.refusal.text(); }
    CAPTURE(text);
    CHECK(text.find("h_gpu_matmul.cpp") != std::string::npos);
    CHECK(text.find("in at most 128 registers of each of 512 threads, which share 65536") != std::string::npos);
  }
}

TEST_CASE("its threads meet once an iteration, and nowhere else") {
  const auto count = [](const std::string& text, const char* what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  for (const char* stages : {"2", "3"})
    for (const char* edge : {"64", "128"}) {
      CAPTURE(stages);
      CAPTURE(edge);
      const Target t = Target::parse("cuda-sm_80");
      const auto gpu = scheduled(t, {{"stages", stages}, {"tile_m", "128"}, {"tile_n", edge}});
      const std::string text = codegen::ptx::translate(gpu.kernel(), t).text;
      CHECK(count(text, "bar.sync") == 1);
      CHECK(count(text, "bar.warp.sync") == 0);
    }
}

TEST_CASE("it is assembled for every chip, with its accumulators in registers") {
  if (!cuda::has_ptxas()) return skip::because("gpu_matmul through the assembler", "there is no ptxas on this machine");
  constexpr std::pair<const char*, const char*> cases[] = {
      {"cuda-sm_80", "2"}, {"cuda-sm_80", "3"}, {"cuda-sm_90a", "4"}, {"cuda-sm_100a", "2"}, {"cuda-sm_100a", "3"}};
  for (const auto& [target, stages] : cases) {
    CAPTURE(std::string(target) + ", stages=" + stages);
    const Target t = Target::parse(target);
    const std::string text = codegen::ptx::translate(scheduled(t, {{"stages", stages}}).kernel(), t).text;
    CHECK(cuda::complaints(text, t.device().chip) == "");
    std::size_t calls = 0;
    for (std::size_t at = text.find("mma.sync"); at != std::string::npos; at = text.find("mma.sync", at + 1)) ++calls;
    CHECK(calls == 2 * (64 / 16) * (32 / 8) * (2 + 1));  // of two virtual warps, at two steps of k inside and one of the rim
    CHECK(text.find(".local") == std::string::npos);
  }
}
