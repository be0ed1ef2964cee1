// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences step by step, and scans along tiles.
#include "tests/skip.h"
#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string kernel_of(const Schedule& s) { return ir::tile::text(lowered(s)[0].kernel); }

}  // namespace

TEST_CASE("a recurrence: a serial loop carries the values of the steps before") {
  for (const bool backwards : {false, true}) {
    lang::DefinitionScope scope;
    Symbol R{"R"}, T{"T"};
    Tensor x = lang::make_input("x", f32, {R, T}), y = lang::make_output("y", f32, {R, T});
    const int d = backwards ? -1 : 1;
    Tensor smooth = recur(
        "smooth", {R, T}, backwards ? Along{1}.backwards() : Along{1}, Lag{2}, [&](Var r, Var t) { return x(r, t) * 2; },
        [&](Prior v, Var r, Var t) { return v(r, t - d) * 0.5f + v(r, t - 2 * d) * 0.25f + x(r, t); });
    const lang::Built built = (lang::bind(y, smooth), lang::build_program("smooth", {x, y}));
    Schedule s = scheduled(built);
    auto [r, t] = s[smooth].spatial<2>();
    auto [ro, ri] = s[smooth].split(r, 8);
    s[smooth].reorder(ro, t, ri).bind(ro, gpu::block_x).as_tile(ri);
    CHECK(has(kernel_of(s), "carrying"));
    same(built, s, {{{"R", 1}, {"T", 1}}, {{"R", 11}, {"T", 9}}, {{"R", 8}, {"T", 0}}});
  }
}

TEST_CASE("a scan along tiles: forwards and backwards, with what is before, and without") {
  for (const bool backwards : {false, true})
    for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
      lang::DefinitionScope scope;
      Symbol R{"R"}, T{"T"};
      Tensor x = lang::make_input("x", i32, {R, T}), y = lang::make_output("y", i32, {R, T});
      Tensor total = scan(
          "total", {R, T}, backwards ? Along{1}.backwards() : Along{1}, Combine::add, [&](Var r, Var t) { return x(r, t) * 3; },
          kind);
      const lang::Built built = (lang::bind(y, total), lang::build_program("totals", {x, y}));
      Schedule s = scheduled(built);
      auto [r, t] = s[total].spatial<2>();
      auto [ro, ri] = s[total].split(r, 4);
      auto [to, ti] = s[total].split(t, 16);
      s[total].reorder(ro, to, ri, ti).bind(ro, gpu::block_x).as_tile(ri, ti);
      CHECK(has(kernel_of(s), "scan"));
      same(built, s, {{{"R", 1}, {"T", 1}}, {{"R", 6}, {"T", 50}}, {{"R", 4}, {"T", 16}}});
    }
}

TEST_CASE("a scan by a reducer of the user's own, along a whole row, in a block of its reader; and along all there is") {
  lang::DefinitionScope scope;
  Symbol R{"R"};
  Tensor x = lang::make_input("x", i32, {R, 32}), y = lang::make_output("y", i32, {R, 32}),
         z = lang::make_output("z", f64, {R});
  const auto gathered =
      reducer("gathered", {i32}, {0}, [](Values<1> a, Values<1> b) { return values(a[0] | b[0]); }, Order::any);
  Tensor seen = scan("seen", {R, 32}, Along{1}, gathered, [&](Var r, Var t) { return values(i32(1) << (x(r, t) & 31)); });
  Tensor fresh = compute("fresh", {R, 32}, [&](Var r, Var t) { return seen(r, t) * 2 + i32(t); });
  Tensor largest = scan("largest", {R}, Along{0}, Combine::max, [&](Var r) { return f64(x(r, 3)); });
  const lang::Built built = (lang::bind(y, fresh), lang::bind(z, largest), lang::build_program("seen", {x, y, z}));
  Schedule s = scheduled(built);
  auto [r, t] = s[fresh].spatial<2>();
  s[fresh].bind(r, gpu::block_x).as_tile(t);
  s[seen].compute_at(r);
  s[seen].as_tile(s[seen].spatial<2>()[1]);
  auto [ro, ri] = s[largest].split(s[largest].spatial<1>()[0], 8);
  s[largest].as_tile(ri);
  CHECK(lowered(s).size() == 2);
  same(built, s, {{{"R", 1}}, {{"R", 21}}});
}

TEST_CASE("a scan along tiles that reach beyond their loop, and with gaps between them") {
  for (const bool twice : {false, true}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
    Tensor total = scan("total", {N}, Along{0}, Combine::add, [&](Var i) { return x(i); });
    const lang::Built built = (lang::bind(y, total), lang::build_program("total", {x, y}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[total].split(s[total].spatial<1>()[0], 6);
    if (twice) {
      auto [ia, ib] = s[total].split(ii, 4);
      s[total].as_tile(ib);
    } else {
      s[total].as_tile(ii, 8);
    }
    same(built, s, {{{"N", 1}}, {{"N", 6}}, {{"N", 31}}});
  }
}

struct ScanOfPairs {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N}), z = lang::make_output("z", i32, {N});
  std::array<Tensor, 2> found = scan("found", {N}, Along{0}, larger_of_pairs(), [&](Var i) { return values(x(i), i32(i)); });
  lang::Built built{(lang::bind(y, found[0]), lang::bind(z, found[1]), lang::build_program("largest", {x, y, z}))};
  Schedule s{scheduled(built)};
  ScanOfPairs() {
    auto [io, ii] = s[found[0]].split(s[found[0]].spatial<1>()[0], 16);
    s[found[0]].as_tile(ii);
  }
};

TEST_CASE("a scan of pairs") {
  ScanOfPairs p;
  same(p.built, p.s, {{{"N", 1}}, {{"N", 70}}});
}

TEST_CASE("the assembler takes a scan of pairs for every chip") {
  if (codegen::tileir::assembler().empty()) return skip::because("a scan of pairs assembled", "there is no tileiras");
  ScanOfPairs p;
  const std::string code = codegen::tileir::bytecode(lowered(p.s)[0].kernel);
  for (const char* chip : {"sm_80", "sm_90", "sm_100", "sm_120"})
    CHECK(refusal([&] { codegen::tileir::cubin(code, chip); }) == "");
}

TEST_CASE("recurrences that are refused") {
  {
    lang::DefinitionScope scope;
    Symbol B{"B"}, N{"N", {.min = 1}};
    Tensor x = lang::make_input("x", f32, {B, N, N}), y = lang::make_output("y", f32, {B, N, N});
    Tensor t = recur(
        "t", {B, N, N}, Along{1}, Lag{1}, [&](Var b, Var i, Var j) { return x(b, i, j); },
        [&](Prior v, Var b, Var i, Var j) { return v(b, i - 1, max(j - 1, 0)) + x(b, i, j); });
    const lang::Built built = (lang::bind(y, t), lang::build_program("table", {x, y}));
    Schedule s = scheduled(built);
    s[t].bind(s[t].spatial<3>()[0], gpu::block_x);
    const std::string why = refusal([&] { lowered(s); });
    CHECK_MESSAGE(has(why,
                      "expected a recurrence along one dimension that reads its own values of at most 8 steps before, at "
                      "the same place in every other dimension, found "),
                  why);
  }
  {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
    Tensor t =
        recur("t", {N}, Along{0}, Lag{1}, [&](Var i) { return x(i); }, [&](Prior v, Var i) { return v(i - 1) * 0.5f + x(i); });
    const lang::Built built = (lang::bind(y, t), lang::build_program("decay", {x, y}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 8);
    const std::string why = refusal([&] { s[t].as_tile(ii); });
    CHECK_MESSAGE(has(why,
                      "as_tile: expected points that can be computed together, or the steps of a scan, found i0i of t, "
                      "steps of a recurrence that is no scan"),
                  why);
  }
  {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N}), z = lang::make_output("z", i32, {N});
    const auto affine = reducer(
        "affine", {i32, i32}, {1, 0}, [](Values<2> a, Values<2> b) { return values(a[0] * b[0], a[1] * b[0] + b[1]); },
        Order::regroup);
    const std::array<Tensor, 2> both = scan("t", {N}, Along{0}, affine, [&](Var i) { return values(x(i) % 3, x(i)); });
    const Tensor& t = both[0];
    const lang::Built built = (lang::bind(y, both[0]), lang::bind(z, both[1]), lang::build_program("affine", {x, y, z}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 8);
    CHECK(has(refusal([&] { s[t].as_tile(ii); }), "as_tile: expected a reducer declared with Order::any"));
  }
}
