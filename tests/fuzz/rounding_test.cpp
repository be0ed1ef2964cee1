// The bound on sums of tensor cores: which schedules it is for, and what it lets pass.
#include "fuzz/rounding.h"

#include <array>
#include <limits>

#include <ashlar/ir/refusal.h>
#include <doctest/doctest.h>

#include "fuzz/fragments.h"

using namespace ashlar;

namespace {

constexpr fuzz::Kind products{.tiles = true, .device = true};

bool has_product_of_matrices(const std::vector<schedule::Step>& trace) {
  for (const schedule::Step& s : trace)
    if (s.primitive == "tensorize" && s.args[1].intrinsic->accumulates) return true;
  return false;
}

}  // namespace

TEST_CASE("a bound is for products of real floats by an instruction, and for nothing else") {
  int bounded = 0, exact = 0, others = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    const lang::DefinitionScope scope;
    try {
      fuzz::Source program{fuzz::Random(seed)}, steps{fuzz::Random(seed + 1000)};
      const fuzz::Made made = fuzz::make_program(program, products);
      CHECK(!fuzz::sums_on_tensor_cores(made, {}));
      const auto trace = fuzz::fragment_steps(steps, made, Target::parse("cuda-sm_80"));
      if (!has_product_of_matrices(trace)) {
        ++others;
        CHECK(!fuzz::sums_on_tensor_cores(made, trace));
      } else if (made.exact) {
        ++exact;
        CHECK(!fuzz::sums_on_tensor_cores(made, trace));
      } else {
        ++bounded;
        CHECK((made.product->half == f16 || made.product->half == bf16));
        CHECK(fuzz::sums_on_tensor_cores(made, trace));
      }
    } catch (const RefusalError&) {}  // a program that the language does not accept
  }
  CHECK(bounded > 5);
  CHECK(exact > 1);
  CHECK(others > 100);
}

TEST_CASE("the bound grows with the sum of the magnitudes, whatever the sum is") {
  const lang::DefinitionScope scope;
  std::optional<fuzz::Made::TiledProduct> product;
  for (std::uint64_t seed = 1; seed <= 300 && !product; ++seed) try {
      fuzz::Source program{fuzz::Random(seed)};
      const fuzz::Made made = fuzz::make_program(program, products);
      if (made.product && made.product->product.id() == made.product->result.id()) product = made.product;
    } catch (const RefusalError&) {}
  REQUIRE(product);
  // 16 terms of magnitude 1: (1.5 + 0.5) * 16 * 16 units of 2^-23
  const auto verdict = [&](bool cancels, float found) {
    interp::Arguments given, is, meant;
    given.emplace_back(interp::Array::make(f16, {1, 16}, [&](auto at) { return cancels && at[1] % 2 ? -1.0 : 1.0; }));
    given.emplace_back(interp::Array::make(f16, {16, 1}, [](auto) { return 1.0; }));
    given.emplace_back(interp::Array::zeros(f32, {1, 1}));
    is = meant = given;
    meant[2].array.set(std::array<std::int64_t, 2>{0, 0}, ir::float_value(f32, cancels ? 0 : 16));
    is[2].array.set(std::array<std::int64_t, 2>{0, 0}, ir::float_value(f32, found));
    return fuzz::beyond_rounding(*product, given, is, meant);
  };
  CHECK(verdict(false, 16 + 0x1p-15f) == "");
  CHECK(verdict(false, 16 + 0x1p-13f).find("C[0, 0]: 16.000122, expected 16.000000 within 0.000061") == 0);
  CHECK(verdict(true, 0x1p-15f) == "");
  CHECK(verdict(true, 0x1p-13f) != "");
  CHECK(verdict(false, std::numeric_limits<float>::quiet_NaN()) != "");
}
