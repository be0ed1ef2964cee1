// The use g: attention by an online reducer. Its kernels for devices, as lowered, are the algorithm's for whole and ragged
// sizes, run with the search for races on.
#include <doctest/doctest.h>

#include <ashlar/generator/compile.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/numeric.h>

#include "tests/uses/g_attention.cpp"

TEST_CASE("attention on the device is the algorithm's") {
  for (const char* target : {"vulkan", "cuda-sm_80"})
    for (const char* causal : {"true", "false"}) {
      CAPTURE(target);
      CAPTURE(causal);
      const Instance<Attention> gpu{[]() -> Generator* { return new Attention; },
                                    "attention",
                                    Target::parse(target),
                                    {{"block_q", "32"}, {"block_k", "8"}, {"D", "8"}, {"causal", causal}},
                                    Where::current()};
      for (const auto& [m, n] : {std::pair{40, 40}, {1, 1}, {33, 16}, {5, 27}}) {
        std::int64_t seed = 1;
        const auto some = [&](std::span<const std::int64_t>) {
          seed = (seed * 1103515245 + 12345) % 2147483648;
          return static_cast<double>(seed / 65536 % 17) / 8 - 1;
        };
        interp::Arguments found;
        for (const int rows : {m, n, n}) found.emplace_back(interp::Array::make(f16, {rows, 8}, some));
        found.emplace_back(ir::float_value(f32, 0.25));
        found.emplace_back(interp::Array::zeros(f16, {m, 8}));
        interp::Arguments expected = found;
        interp::run_algorithm(gpu.algorithm(), expected);
        interp::Options options;
        options.races = true;
        REQUIRE_NOTHROW(interp::run(gpu.kernel(), found, options));
        CHECK(interp::difference(found.back().array, expected.back().array, 2e-3, 2e-3) ==
              "");  // exp by a polynomial, then f16
      }
    }
}
