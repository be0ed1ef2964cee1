// The numbers behind explain(), beside those that can be counted by hand.
#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/report/figures.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

using namespace ashlar;

namespace {

Figures of(const Schedule& s, const ExplainSizes& sizes) {
  return explain_figures(s, lower(s.scheduled().program, options_for(s.target())), sizes);
}

}  // namespace

TEST_CASE("figures of a product on a processor") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
  Schedule s(lang::build_program("product", {A, B, C}), Target::parse("x86-64-v3"));
  const Figures f = of(s, {{"M", 64}, {"N", 32}, {"K", 100}});
  CHECK(f.sizes == std::vector<std::pair<std::string, std::int64_t>>{{"M", 64}, {"K", 100}, {"N", 32}});
  REQUIRE(f.operations.size() == 1);
  CHECK(f.operations[0].kind == "f32");
  CHECK(f.operations[0].count == 2.0 * 64 * 32 * 100);
  CHECK(f.operations[0].rate == 0);
  CHECK(f.argument_bytes == (64 * 100 + 100 * 32 + 64 * 32) * 4);
  CHECK(f.bandwidth == 0);
  REQUIRE(f.stages.size() == 1);
  CHECK(f.stages[0].points == 64 * 32 * 100);
  CHECK(f.stages[0].lanes_used == 0);
  REQUIRE(f.stages[0].caches.size() == 3);
  CHECK(f.stages[0].caches[2].holds == "");  // all of it fits the third level
  CHECK(!f.losses.empty());                  // one element at a time
  CHECK_THROWS_WITH_AS(of(s, {{"Q", 3}}), doctest::Contains("explain: expected sizes of symbols of"), RefusalError);
}

TEST_CASE("figures of a launch: what limits it, and the addresses of a warp") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 2}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i, 1) * 2; }));
  Schedule s(lang::build_program("strided", {x, y}), Target::parse("cuda-sm_80"));
  auto [b, t] = s[y].split(s[y].spatial<1>()[0], 256);
  s[y].bind(b, gpu::block_x).bind(t, gpu::thread_x);
  const Figures f = of(s, {{"N", 1 << 16}});
  CHECK(f.bandwidth > 1e12);
  REQUIRE(f.operations.size() == 1);
  CHECK(f.operations[0].rate > 1e13);
  REQUIRE(f.launches.size() == 1);
  const LaunchFigures& l = f.launches[0];
  CHECK(l.grid[0] == 256);
  CHECK(l.threads == 256);
  REQUIRE(l.limits.size() == 4);
  CHECK(l.limits[0].name == "threads");
  CHECK(l.limits[0].blocks == 8);  // 2048 threads of a multiprocessor
  CHECK(l.warps_of_block == 8);
  CHECK(l.warps_most == 64);
  REQUIRE(l.warps.size() == 2);
  for (const WarpFigures& w : l.warps) {
    REQUIRE(w.bytes.size() == 32);
    for (std::size_t lane = 0; lane < 32; ++lane)
      CHECK(w.bytes[lane] == static_cast<std::int64_t>(w.store ? lane * 4 : lane * 8 + 4));
    CHECK(!w.shared);
  }
}
