// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of tile kernels have 32 bits where that is enough: what may leave them is computed in 64, or checked by the host.
#include <ashlar/ir/print.h>

#include "tests/tileir/programs.h"

using namespace tiles;

// i * 1300000 leaves 32 bits from i = 1652 on; the row itself is below 3900.
TEST_CASE("a row's number whose product leaves 32 bits before it is divided") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {3900, 4}), y = lang::make_output("y", f32, {3000, 4});
  Tensor result = compute("result", {3000, 4}, [&](Var i, Var j) { return x(i * 1300000 / 1000001, j); });
  const lang::Built built = (lang::bind(y, result), lang::build_program("rows", {x, y}));
  Schedule s = scheduled(built);
  auto [i, j] = s[result].spatial<2>();
  s[result].bind(i, gpu::block_x).as_tile(j);
  same(built, s, {{}});
}

TEST_CASE("the nearest row: a product of a row's number and a Symbol") {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, O{"O", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {H, 4}), y = lang::make_output("y", f32, {O, 4});
  Tensor result = compute("result", {O, 4}, [&](Var i, Var j) { return x(min(i * H / O, H - 1), j); });
  const lang::Built built = (lang::bind(y, result), lang::build_program("nearest", {x, y}));
  Schedule s = scheduled(built);
  auto [i, j] = s[result].spatial<2>();
  s[result].bind(i, gpu::block_x).as_tile(j);
  same(built, s, {{{"H", 5}, {"O", 7}}, {{"H", 60000}, {"O", 50000}}});
}

TEST_CASE("ends of terms beyond a Symbol are numbers that the host checks") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", f32, {N}), z = lang::make_input("z", f32, {M}), y = lang::make_output("y", f32, {1}),
         w = lang::make_output("w", f32, {1});
  Axis k{"k", 4 * N}, l{"l", N + M};
  Tensor four = compute("four", {1}, [&](Var) { return sum(x(k / 4), k); });
  Tensor both = compute("both", {1}, [&](Var) { return sum(select(l < N, x(l), z(l - N)), l); });
  const lang::Built built = (lang::bind(y, four), lang::bind(w, both), lang::build_program("ends", {x, z, y, w}));
  Schedule s = scheduled(built);
  for (const Tensor& t : {four, both}) {
    auto [ko, ki] = s[t].split(s[t].reduction(), 16);
    s[t].bind(s[t].spatial<1>()[0], gpu::block_x).as_tile(ki);
  }
  const std::vector<TileLaunch> launches = lowered(s);
  REQUIRE(launches.size() == 2);
  const std::string of_four = ir::tile::text(launches[0].kernel), of_both = ir::tile::text(launches[1].kernel);
  CHECK(of_four.find("kernel ends_four(N: i32 >= 0)") == 0);  // (N + 3) / 4 steps; positions and 4 N in 64 bits
  CHECK(of_four.find("iota : i32") == std::string::npos);
  CHECK(of_both.find("kernel ends_both(size0: i32 >= 0, N: i32 >= 0, M: i32 >= 0)") == 0);
  CHECK(ir::text(launches[1].parameters[0].value) == "M + N");
  same(built, s, {{{"N", 0}, {"M", 3}}, {{"N", 5}, {"M", 1}}, {{"N", 40}, {"M", 33}}}, 1e-6, 1e-6);
}

TEST_CASE("a loop of more terms than 32 bits count is refused; in tiles of them it is not") {
  for (const int width : {1, 64}) {
    lang::DefinitionScope scope;
    Axis k{"k", 3'000'000'000};
    Tensor x = lang::make_input("x", i8, {4}), y = lang::make_output("y", i32, {4});
    Tensor total = compute("total", {4}, [&](Var j) { return sum(i32(x(j)), k); });
    const lang::Built built = (lang::bind(y, total), lang::build_program("long", {x, y}));
    Schedule s = scheduled(built);
    const Loop j = s[total].spatial<1>()[0];
    auto [jo, ji] = s[total].split(j, 4);
    auto [ko, ki] = s[total].split(s[total].reduction(), width);
    s[total].reorder(jo, ko, ji, ki).bind(jo, gpu::block_x).as_tile(ji, ki);
    const std::string why = refusal([&] { lowered(s); });
    CHECK((width == 1) == (why.find("loops and numbers of tiles of 32 bits, found 3000000000") != std::string::npos));
    if (width > 1) CHECK(why == "");
  }
}
