// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints to the assembler: steps of the schedule, in the trace, in the kernel and in its bytecode.
#include <ashlar/ir/print.h>

#include "tests/skip.h"
#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Hinted {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), w = lang::make_input("w", f32, {N}), y = lang::make_output("y", f32, {M, N});
  Tensor twice = compute("twice", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return twice(i, j) + w(max(j - 1, 0)); });
  lang::Built built = (lang::bind(y, result), lang::build_program("hinted", {x, w, y}));
  Schedule s;
  explicit Hinted(const char* target = "cuda-tile-sm_90") : s(built, Target::parse(target)) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 4, 32);
    s[result].bind(io, gpu::block_y).bind(jo, gpu::block_x).as_tile(ii, ji);
    s[twice].compute_at(jo);
    auto [a, b] = s[twice].spatial<2>();
    s[twice].as_tile(a, 4).as_tile(b, 32);
  }
};

}  // namespace

TEST_CASE("hints are steps: printed, saved, replayed, lowered, written") {
  Hinted p;
  p.s[p.result]
      .hint_launch(LaunchHint::occupancy, 2)
      .hint_launch(LaunchHint::cluster, 2, TileChip::sm_100)
      .hint_launch(LaunchHint::worker_warps, 8)
      .hint_access(p.x, AccessHint::latency, 6)
      .hint_access(p.w, AccessHint::latency, 3, TileChip::sm_90)
      .hint_access(p.result, AccessHint::tma, 0);
  const std::string steps = p.s.text();
  CHECK(has(steps, "hint result: occupancy 2\n"));
  CHECK(has(steps, "hint result: cluster 2 for sm_100\n"));
  CHECK(has(steps, "hint result: latency 6 of x\n"));
  const std::string kernel = ir::tile::text(lowered(p.s)[0].kernel);
  CHECK(has(kernel, ", hints: occupancy 2, cluster 2 for sm_100, worker_warps 8\n"));
  CHECK(has(kernel, "load x_tiles at (%0, %1), hints: latency 6 : f32 4x32"));
  CHECK(has(kernel, ", hints: latency 3 for sm_90"));
  CHECK(has(kernel, ", hints: tma 0\n"));
  same(p.built, p.s, {{{"M", 5}, {"N", 70}}});

  const std::string json = schedule::json(p.s.scheduled().trace);
  Schedule again(p.built, Target::parse("cuda-tile-sm_90"));
  again.replay(json);
  CHECK(again.text() == p.s.text());
  CHECK(ir::tile::text(lowered(again)[0].kernel) == kernel);

  const std::string code = codegen::tileir::bytecode(lowered(p.s)[0].kernel);
  const tileir::Module module = tileir::Module::read(std::as_bytes(std::span(code)));
  const std::string text = module.text();
  CHECK_MESSAGE(has(text, "occupancy"), text);
  CHECK(has(text, "num_cta_in_cga"));
  CHECK(has(text, "num_worker_warps_per_cta"));
  CHECK(has(text, "allow_tma"));
  CHECK(has(text, "latency"));
}

TEST_CASE("the last hint of a kind holds; one about all chips needs version 13.3 of the format, one about a chip 13.1") {
  Hinted p;
  p.s[p.result].hint_launch(LaunchHint::occupancy, 2, TileChip::sm_90).hint_launch(LaunchHint::occupancy, 4, TileChip::sm_90);
  const ir::tile::Kernel k = lowered(p.s)[0].kernel;
  REQUIRE(k.hints.size() == 1);
  CHECK(k.hints[0] == ir::Hint{ir::HintKind::occupancy, 4, "sm_90"});
  CHECK(codegen::tileir::bytecode(k)[9] == 1);
  p.s[p.result].hint_launch(LaunchHint::occupancy, 4);
  CHECK(codegen::tileir::bytecode(lowered(p.s)[0].kernel)[9] == 3);
}

TEST_CASE("hints that do not apply are refused at their line") {
  const auto refused = [](const char* target, auto&& step) {
    Hinted p(target);
    return refusal([&] { step(p); });
  };
  const char* sm_90 = "cuda-tile-sm_90";
  CHECK(has(refused(sm_90, [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::occupancy, 33); }),
            "hint_launch: expected 1 to 32 blocks as occupancy, found occupancy 33"));
  CHECK(has(refused(sm_90, [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::cluster, 3); }),
            "hint_launch: expected a power of two from 1 to 16 as cluster, found cluster 3"));
  CHECK(has(refused("cuda-tile-sm_80", [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::cluster, 2); }),
            "hint_launch: expected a chip with clusters of blocks (sm_90 and later), found cluster 2 on sm_80"));
  CHECK(
      has(refused("cuda-tile", [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::cluster, 2); }),
          "hint_launch: expected a chip with clusters of blocks (sm_90 and later), found cluster 2 for all chips, sm_80 among "
          "them (name those that it is for)"));
  CHECK(refused("cuda-tile", [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::cluster, 2, TileChip::sm_90); }) == "");
  CHECK(refused("cuda-tile", [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::occupancy, 2); }) == "");
  CHECK(has(refused(sm_90, [](Hinted& p) { p.s[p.result].hint_launch(LaunchHint::worker_warps, 6); }),
            "hint_launch: expected 4 or 8 worker warps, found worker_warps 6"));
  CHECK(has(refused(sm_90, [](Hinted& p) { p.s[p.result].hint_access(p.x, AccessHint::latency, 11); }),
            "hint_access: expected a latency from 1 to 10, found latency 11"));
  CHECK(has(refused(sm_90, [](Hinted& p) { p.s[p.result].hint_access(p.x, AccessHint::tma, 0, TileChip::sm_86); }),
            "hint_access: expected a chip with a unit that copies tiles (sm_90 and later), found tma 0"));
  CHECK(
      has(refused(sm_90, [](Hinted& p) { p.s[p.twice].hint_launch(LaunchHint::occupancy, 2); }),
          "hint_launch: expected a stage with a launch of its own (that of the stage it is computed in takes the hint), found "
          "twice, which is computed inside of another one"));
  CHECK(has(refused(sm_90,
                    [](Hinted& p) {
                      p.s[p.result].hint_access(p.w, AccessHint::tma, 0);
                      lowered(p.s);
                    }),
            "hint_access: expected a tensor that the launch of result loads or stores by tiles of a view, found w, whose "
            "elements are accessed one by one"));
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor a = lang::make_input("a", f32, {N}), b = lang::make_input("b", f32, {N}), c = lang::make_output("c", f32, {N}),
         d = lang::make_output("d", f32, {N});
  Tensor first = compute("first", {N}, [&](Var i) { return a(i) + 1; });
  Tensor second = compute("second", {N}, [&](Var i) { return b(i) + first(i); });
  const lang::Built built = (lang::bind(c, first), lang::bind(d, second), lang::build_program("two", {a, b, c, d}));
  Schedule s = scheduled(built);
  CHECK(has(refusal([&] { s[first].hint_access(b, AccessHint::latency, 2); }),
            "hint_access: expected a tensor that the launch of first loads or stores, found b"));
  Schedule elsewhere(built, Target::parse("cuda-sm_90a"));
  CHECK(has(refusal([&] { elsewhere[first].hint_launch(LaunchHint::occupancy, 2); }),
            "hint_launch: expected a target with tiles, such as cuda-tile-sm_90, found cuda-sm_90a"));
}

TEST_CASE("a stage that loses its launch loses its hints: refused when the schedule is lowered") {
  Hinted p;
  Schedule s = scheduled(p.built);
  s[p.twice].hint_launch(LaunchHint::occupancy, 2);
  auto [i, j] = s[p.result].spatial<2>();
  auto [jo, ji] = s[p.result].split(j, 32);
  s[p.result].bind(i, gpu::block_y).bind(jo, gpu::block_x).as_tile(ji);
  s[p.twice].compute_at(jo);
  s[p.twice].as_tile(s[p.twice].spatial<2>()[1], 32);
  CHECK(has(refusal([&] { lowered(s); }),
            "hint_launch: expected a stage with a launch of its own, found twice, which is computed inside of another one"));
}

TEST_CASE("a scatter has two launches: a hint about an access is of the one that makes it") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {256});
  Tensor counts = scatter("counts", {256}, Combine::add, i32(5), {N}, [&](Var n) { return put(i32(1), x(n)); });
  const lang::Built built = (lang::bind(y, counts), lang::build_program("histogram", {x, y}));
  Schedule s = scheduled(built);
  auto [no, ni] = s[counts].split(s[counts].reduction(), 32);
  s[counts].atomic().bind(no, gpu::block_x).as_tile(ni).as_tile(s[counts].spatial<1>()[0]);
  s[counts].hint_access(x, AccessHint::latency, 4).hint_access(counts, AccessHint::latency, 5);
  const std::vector<TileLaunch> launches = lowered(s);
  REQUIRE(launches.size() == 2);
  CHECK(has(ir::tile::text(launches[0].kernel), "hints: latency 5"));
  CHECK(has(ir::tile::text(launches[1].kernel), "hints: latency 4"));
  s[counts].hint_access(counts, AccessHint::tma, 1);  // stored as a tile of starting values
  CHECK(refusal([&] { lowered(s); }) == "");
}

TEST_CASE("the assembler takes every hint that is not refused") {
  if (codegen::tileir::assembler().empty()) return skip::because("tiles with hints assembled", "there is no tileiras");
  for (const char* chip : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    const auto takes = [&](LaunchHint kind, int value) {
      Hinted p((std::string("cuda-tile-") + chip).c_str());
      p.s[p.result].hint_launch(kind, value);
      const std::string code = codegen::tileir::bytecode(lowered(p.s)[0].kernel);
      const std::string what = std::string(chip) + ": " + std::to_string(static_cast<int>(kind)) + " " + std::to_string(value);
      CHECK_MESSAGE(refusal([&] { codegen::tileir::cubin(code, chip); }) == "", what);
    };
    for (const int n : {1, 2, 32}) takes(LaunchHint::occupancy, n);
    for (const int n : {4, 8}) takes(LaunchHint::worker_warps, n);
    takes(LaunchHint::cluster, 1);
    const bool clusters = std::string_view(chip) != "sm_80";
    if (clusters)
      for (const int n : {2, 16}) takes(LaunchHint::cluster, n);
    Hinted p((std::string("cuda-tile-") + chip).c_str());
    p.s[p.result].hint_access(p.x, AccessHint::latency, 10).hint_access(p.w, AccessHint::latency, 1);
    if (clusters) p.s[p.result].hint_access(p.x, AccessHint::tma, 0).hint_access(p.result, AccessHint::tma, 1);
    const std::string code = codegen::tileir::bytecode(lowered(p.s)[0].kernel);
    CHECK_MESSAGE(refusal([&] { codegen::tileir::cubin(code, chip); }) == "", chip);
  }
}
