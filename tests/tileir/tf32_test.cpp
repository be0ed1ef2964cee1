// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of f32 whose factors the program rounds to tf32, and constants that the kernel has in memory.
#include <cmath>
#include <cstring>

#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

float evaluated_at(float x) {
  const ir::Value v = tiles::evaluated(round_to_tf32(f32(x)));
  return static_cast<float>(v.f);
}

}  // namespace

TEST_CASE("numbers of tf32: the nearest, ties to even") {
  const float ulp = std::ldexp(1.f, -10);
  CHECK(evaluated_at(1 + ulp) == 1 + ulp);
  CHECK(evaluated_at(1 + ulp / 2) == 1);               // a tie, down to the even one
  CHECK(evaluated_at(1 + 1.5f * ulp) == 1 + 2 * ulp);  // a tie, up
  CHECK(evaluated_at(1 + std::ldexp(1.f, -11) + std::ldexp(1.f, -23)) == 1 + ulp);
  CHECK(evaluated_at(-1.9999999f) == -2);
  CHECK(std::signbit(evaluated_at(-0.f)));
  CHECK(std::isinf(evaluated_at(3.4028235e38f)));
  CHECK(std::isinf(evaluated_at(INFINITY)));
  CHECK(std::isnan(evaluated_at(NAN)));
  CHECK(evaluated_at(std::ldexp(3.f, -137)) == std::ldexp(1.f, -135));  // of the smallest numbers too
}

TEST_CASE("round_to_tf32 takes f32") {
  const std::string why = refusal([] { round_to_tf32(f64(1)); });
  CHECK_MESSAGE(why.find("round_to_tf32: expected a value of type f32, found f64") != std::string::npos, why);
}

TEST_CASE("a product of numbers of tf32 is one mma; with one factor of f32 it is one of f32") {
  for (const bool both : {true, false}) {
    TiledProduct p(f32, f32, f32, [&](Expr a, Expr b) { return round_to_tf32(a) * (both ? round_to_tf32(b) : b); }, 16, 8, 16);
    const std::string kernel = p.kernel();
    CHECK((kernel.find("mma of tf32") != std::string::npos) == both);
    CHECK(kernel.find("mma") != std::string::npos);
    same(p.built, p.s, {{{"M", 17}, {"N", 9}, {"K", 40}}, {{"M", 1}, {"N", 1}, {"K", 1}}}, 1e-5, 1e-5);
  }
}

TEST_CASE("constants of more than 256 elements lie in memory: by tiles of views, and by addresses") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  std::vector<std::int32_t> numbers;
  for (int n = 0; n < 300; ++n) numbers.push_back(n * n % 101);
  const Tensor table = constant("table", i32, {300}, numbers), grid = constant("grid", i32, {6, 50}, numbers);
  Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {N}), z = lang::make_output("z", i32, {6, 50});
  Tensor looked = compute("looked", {N}, [&](Var i) { return table(i32(x(i)) + 20); });
  Tensor twice = compute("twice", {6, 50}, [&](Var i, Var j) { return grid(i, j) * 2; });
  const lang::Built built = (lang::bind(y, looked), lang::bind(z, twice), lang::build_program("tables", {x, y, z}));
  Schedule s = scheduled(built);
  auto [io, ii] = s[looked].split(s[looked].spatial<1>()[0], 16);
  s[looked].bind(io, gpu::block_x).as_tile(ii);
  auto [i, j] = s[twice].spatial<2>();
  auto [jo, ji] = s[twice].split(j, 32);
  s[twice].bind(i, gpu::block_x).bind(jo, gpu::block_y).as_tile(ji);
  const std::vector<TileLaunch> launches = lowered(s);
  REQUIRE(launches.size() == 2);
  CHECK(ir::tile::text(launches[0].kernel).find("table: i32 [300] strides (1) aligned to 16, constant") != std::string::npos);
  CHECK(ir::tile::text(launches[0].kernel).find("gather table[") != std::string::npos);
  CHECK(ir::tile::text(launches[1].kernel).find("load grid_tiles") != std::string::npos);
  same(built, s, {{{"N", 1}}, {{"N", 40}}});
}
