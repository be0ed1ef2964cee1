// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters, and reductions that blocks share: a launch of starting values, and one that combines with them in memory.
#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a histogram, by atomic updates of tiles") {
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor x = lang::make_input("x", u8, {H, W}), y = lang::make_output("y", i32, {256});
  Tensor counts = scatter("counts", {256}, Combine::add, i32(5), {H, W}, [&](Var r, Var c) { return put(i32(1), x(r, c)); });
  const lang::Built built = (lang::bind(y, counts), lang::build_program("histogram", {x, y}));
  Schedule s = scheduled(built);
  auto [r, c] = s[counts].reduction<2>();
  auto [co, ci] = s[counts].split(c, 32);
  s[counts].atomic().bind(r, gpu::block_y).bind(co, gpu::block_x).as_tile(ci);
  auto [bo, bi] = s[counts].split(s[counts].spatial<1>()[0], 64);
  s[counts].bind(bo, gpu::block_x).as_tile(bi);
  const std::vector<TileLaunch> launches = lowered(s);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel.name == "histogram_init");
  CHECK(has(ir::tile::text(launches[1].kernel), "atomic add y["));
  same(built, s, {{{"H", 1}, {"W", 1}}, {{"H", 5}, {"W", 70}}, {{"H", 0}, {"W", 3}}});
}

TEST_CASE("rows added where an index says, in f32; steps that are dropped") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, D{"D"}, V{"V"};
  Tensor at = lang::make_input("at", i64, {N}), x = lang::make_input("x", f32, {N, D}), y = lang::make_output("y", f32, {V, D});
  Tensor sums = scatter("sums", {V, D}, Combine::add, 0.f, {N, D}, [&](Var n, Var d) {
    const Expr to = 0 * n + at(n);
    return put_if(to >= 0 && to < V, x(n, d), in_range(to, 0, V), d);
  });
  const lang::Built built = (lang::bind(y, sums), lang::build_program("index_add", {at, x, y}));
  Schedule s = scheduled(built);
  auto [n, d] = s[sums].reduction<2>();
  auto [no, ni] = s[sums].split(n, 8);
  auto [d_o, d_i] = s[sums].split(d, 16);
  s[sums].atomic().reorder(no, d_o, ni, d_i).bind(no, gpu::block_x).bind(d_o, gpu::block_y).as_tile(ni, d_i);
  auto [v, c] = s[sums].spatial<2>();
  auto [co, ci] = s[sums].split(c, 16);
  s[sums].bind(v, gpu::block_x).bind(co, gpu::block_y).as_tile(ci);
  same(built, s, {{{"N", 1}, {"D", 1}, {"V", 1}}, {{"N", 21}, {"D", 20}, {"V", 9}}}, 1e-5, 1e-5);
}

TEST_CASE("steps that choose different elements are stored, combined with the starting values") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, 3}), y = lang::make_output("y", i32, {N, 5});
  Tensor turned =
      scatter("turned", {N, 5}, Combine::max, i32(-7), {N, 3}, [&](Var n, Var k) { return put(x(n, k), n, 4 - 2 * k); });
  const lang::Built built = (lang::bind(y, turned), lang::build_program("turned", {x, y}));
  for (const bool apart : {true, false}) {
    Schedule s = scheduled(built);
    auto [n, k] = s[turned].reduction<2>();
    auto [no, ni] = s[turned].split(n, 8);
    if (apart) s[turned].bind(no, gpu::block_x).as_tile(ni).as_tile(k, 4);
    if (!apart) {
      s[turned].bind(no, gpu::block_x);
      const std::string why = refusal([&] { lowered(s); });
      CHECK_MESSAGE(has(why,
                        "expected a scatter whose steps combine in memory (atomic), or all run at once, found turned, with "
                        "p0i, whose steps follow one another"),
                    why);
      continue;
    }
    s[turned].bind(s[turned].spatial<2>()[0], gpu::block_x);
    CHECK(!has(ir::tile::text(lowered(s)[1].kernel), "atomic"));
    same(built, s, {{{"N", 1}}, {{"N", 13}}});
  }
}

TEST_CASE("a sum of all, in blocks that share the result") {
  lang::DefinitionScope scope;
  Symbol R{"R"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {R, N}), y = lang::make_output("y", i32, {R});
  Axis k{"k", N};
  Tensor total = compute("total", {R}, [&](Var r) { return sum(x(r, k), k).from(100); });
  const lang::Built built = (lang::bind(y, total), lang::build_program("total", {x, y}));
  Schedule s = scheduled(built);
  auto [ko, ki] = s[total].split(s[total].reduction(), 64);
  auto [ka, kb] = s[total].split(ki, 16);
  const Loop r = s[total].spatial<1>()[0];
  auto [ro, ri] = s[total].split(r, 4);
  s[total].reorder(ko, ro, ka, ri, kb).atomic().bind(ko, gpu::block_x).bind(ro, gpu::block_y).as_tile(ri, kb);
  REQUIRE(lowered(s).size() == 2);
  CHECK(has(ir::tile::text(lowered(s)[1].kernel), "atomic add y["));
  same(built, s, {{{"R", 1}, {"N", 1}}, {{"R", 6}, {"N", 300}}, {{"R", 3}, {"N", 0}}});
}

TEST_CASE("scatters that are refused") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {256});
  Tensor counts = scatter("counts", {256}, Combine::add, i32(0), {N}, [&](Var n) { return put(i32(1), x(n)); });
  const lang::Built built = (lang::bind(y, counts), lang::build_program("histogram", {x, y}));
  Schedule s = scheduled(built);
  auto [no, ni] = s[counts].split(s[counts].reduction(), 32);
  CHECK(has(refusal([&] { s[counts].as_tile(ni); }), "as_tile: expected a loop whose iterations are independent"));
}
