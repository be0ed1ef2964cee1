// Programs scheduled with blocks and tiles become tile kernels that compute what they say.
#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

std::string text(const Schedule& s) {
  std::string all = s.text();
  for (const TileLaunch& l : lowered(s)) all += "\n" + ir::tile::text(l.kernel);
  return all;
}

}  // namespace

TEST_CASE("elementwise with broadcasting, ragged in both dimensions") {
  BiasRelu op;
  CHECK(golden("tileir/golden/lowered_bias_relu.txt", text(op.s)) == "");
  same(op.built, op.s, {{{"M", 4}, {"N", 64}}, {{"M", 5}, {"N", 130}}, {{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 3}}});
}

TEST_CASE("neighbors are gathered, under the conditions of their reads") {
  Smooth op;
  CHECK(golden("tileir/golden/lowered_smooth.txt", text(op.s)) == "");
  same(op.built, op.s, {{{"N", 1}}, {{"N", 128}}, {{"N", 300}}});
}

TEST_CASE("softmax of rows: stages of a block are values") {
  Softmax op(64, 64);
  CHECK(golden("tileir/golden/lowered_softmax.txt", text(op.s)) == "");
  same(op.built, op.s, {{{"R", 1}}, {{"R", 9}}}, 1e-6, 1e-6);
  Softmax padded(50, 64);
  same(padded.built, padded.s, {{{"R", 1}}, {{"R", 9}}}, 1e-6, 1e-6);
}

TEST_CASE("a product: loads by views, mma, ragged in all dimensions") {
  Product op;
  CHECK(golden("tileir/golden/lowered_product.txt", text(op.s)) == "");
  same(op.built, op.s,
       {{{"M", 16}, {"N", 32}, {"K", 16}},
        {{"M", 33}, {"N", 70}, {"K", 41}},
        {{"M", 1}, {"N", 1}, {"K", 1}},
        {{"M", 3}, {"N", 5}, {"K", 0}}});
}

TEST_CASE("products of 8-bit floats, by mma") {
  for (const Type type : {e4m3, e5m2}) {
    TiledProduct p(type, type, f32, [](Expr a, Expr b) { return f32(a) * f32(b); }, 16, 16, 32);
    CHECK(p.kernel().find("mma") != std::string::npos);
    same(p.built, p.s, {{{"M", 17}, {"N", 16}, {"K", 70}}, {{"M", 1}, {"N", 1}, {"K", 1}}});
  }
}

TEST_CASE("products of a batch, with a transposed factor, of bytes, of f32") {
  {
    lang::DefinitionScope scope;
    Symbol G{"G"}, M{"M"}, N{"N"}, K{"K"};
    Tensor A = lang::make_input("A", f16, {G, M, K}), B = lang::make_input("B", f16, {N, K}),
           C = lang::make_output("C", f32, {G, M, N});
    Axis k{"k", K};
    Tensor result = compute("result", {G, M, N}, [&](Var g, Var i, Var j) { return sum(f32(B(j, k)) * f32(A(g, i, k)), k); });
    const lang::Built built = (lang::bind(C, result), lang::build_program("batch", {A, B, C}));
    Schedule s = scheduled(built);
    auto [g, i, j] = s[result].spatial<3>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 16, 8);
    auto [ko, ki] = s[result].split(s[result].reduction(), 32);
    s[result].reorder(g, io, jo, ko, ii, ji, ki);
    s[result].bind(g, gpu::block_z).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji, ki);
    CHECK(golden("tileir/golden/lowered_batch.txt", text(s)) == "");
    same(built, s, {{{"G", 2}, {"M", 17}, {"N", 9}, {"K", 40}}, {{"G", 1}, {"M", 1}, {"N", 1}, {"K", 1}}});
  }
  {
    TiledProduct p(u8, i8, i32, [](Expr a, Expr b) { return i32(a) * i32(b); }, 8, 8, 16);
    const std::string kernel = p.kernel();
    CHECK(kernel.find("mma") != std::string::npos);
    same(p.built, p.s, {{{"M", 9}, {"N", 10}, {"K", 33}}});
  }
  {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"}, K{"K"};
    Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
           C = lang::make_output("C", f32, {M, N});
    Axis k{"k", K};
    Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
    const lang::Built built = (lang::bind(C, result), lang::build_program("floats", {A, B, C}));
    Schedule s = scheduled(built);
    auto [i, j] = s[result].spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 8, 8);
    s[result].reorder(io, jo, s[result].reduction(), ii, ji).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji);
    // without a dimension of terms: one after the other, as it is defined
    CHECK(ir::tile::text(lowered(s)[0].kernel).find("mma") == std::string::npos);
    same(built, s, {{{"M", 9}, {"N", 10}, {"K", 33}}});
  }
}

TEST_CASE("sums of rows in steps, the last one partly beyond the row; a scalar; bool results") {
  lang::DefinitionScope scope;
  Symbol R{"R"}, C{"C"};
  const Expr limit = lang::make_scalar("limit", f32);
  Tensor x = lang::make_input("x", f32, {R, C}), y = lang::make_output("y", bool_, {R});
  Axis c{"c", C};
  Tensor total = compute("total", {R}, [&](Var i) { return sum(x(i, c), c); });
  Tensor above = compute("above", {R}, [&](Var i) { return total(i) > limit; });
  const lang::Built built = (lang::bind(y, above), lang::build_program("rows", {x, limit, y}));
  Schedule s = scheduled(built);
  auto [io, ii] = s[above].split(s[above].spatial<1>()[0], 8);
  s[above].bind(io, gpu::block_x).as_tile(ii);
  s[total].compute_at(io);
  auto [co, ci] = s[total].split(s[total].reduction(), 32);
  s[total].reorder(co, s[total].spatial<1>()[0], ci).as_tile(s[total].spatial<1>()[0], 8).as_tile(ci);
  CHECK(golden("tileir/golden/lowered_rows.txt", text(s)) == "");
  same(built, s, {{{"R", 8}, {"C", 32}}, {{"R", 11}, {"C", 75}}, {{"R", 3}, {"C", 0}}});
}

TEST_CASE("a reducer of the user's own over pairs, in tiles of rows; a factor that is computed") {
  {
    lang::DefinitionScope scope;
    Symbol R{"R"}, C{"C"};
    Tensor x = lang::make_input("x", f32, {R, C}), y = lang::make_output("y", f32, {R}), z = lang::make_output("z", i32, {R});
    Axis c{"c", C};
    const auto larger = larger_of_pairs();
    const std::array<Tensor, 2> found = compute("largest", {R}, [&](Var r) { return larger(values(x(r, c), i32(c)), c); });
    const Tensor &most = found[0], &place = found[1];
    const lang::Built built = (lang::bind(y, most), lang::bind(z, place), lang::build_program("largest", {x, y, z}));
    Schedule s = scheduled(built);
    auto [ro, ri] = s[most].split(s[most].spatial<1>()[0], 4);
    auto [co, ci] = s[most].split(s[most].reduction(), 16);
    s[most].reorder(ro, co, ri, ci).bind(ro, gpu::block_x).as_tile(ri, ci);
    CHECK(golden("tileir/golden/lowered_largest.txt", text(s)) == "");
    same(built, s, {{{"R", 4}, {"C", 16}}, {{"R", 7}, {"C", 41}}});
  }
  {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"}, K{"K"};
    Tensor A = lang::make_input("A", bf16, {M, K}), B = lang::make_input("B", bf16, {K, N}),
           C = lang::make_output("C", f32, {M, N});
    Axis k{"k", K};
    Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return sum(f32(max(A(i, k), 0)) * f32(B(k, j)), k); });
    const lang::Built built = (lang::bind(C, result), lang::build_program("prologue", {A, B, C}));
    Schedule s = scheduled(built);
    auto [i, j] = s[result].spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 8, 8);
    auto [ko, ki] = s[result].split(s[result].reduction(), 16);
    s[result].reorder(io, jo, ko, ii, ji, ki).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji, ki);
    CHECK(ir::tile::text(lowered(s)[0].kernel).find("mma") != std::string::npos);
    same(built, s, {{{"M", 9}, {"N", 10}, {"K", 33}}});
  }
}

TEST_CASE(
    "a stage that one launch stores and another reads, bool among them; constants; factors with two dimensions of terms") {
  {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
    const Tensor weights = constant("weights", f32, {3}, std::vector<double>{0.5, 2, -1});
    Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
    Tensor above = compute("above", {N}, [&](Var i) { return twice(i) > 1; });
    Tensor result =
        compute("result", {N}, [&](Var i) { return select(above(i), weights(i % 3), 0) + select(i < 1, 0.f, twice(i - 1)); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("three", {x, y}));
    Schedule s = scheduled(built);
    for (const Tensor& t : {twice, above, result}) {
      auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 16);
      s[t].bind(io, gpu::block_x).as_tile(ii);
    }
    CHECK(lowered(s).size() == 3);
    same(built, s, {{{"N", 0}}, {{"N", 1}}, {{"N", 50}}});
  }
  {  // y(o, h, w) of windows, o x (c s) by (c s) x (h w)
    lang::DefinitionScope scope;
    Symbol O{"O"}, C{"C"}, H{"H"}, W{"W"};
    Tensor x = lang::make_input("x", bf16, {C, H, W + 2}), k = lang::make_input("k", bf16, {O, C, 3}),
           y = lang::make_output("y", f32, {O, H, W});
    Axis c{"c", C}, t{"t", 3};
    Tensor result =
        compute("result", {O, H, W}, [&](Var o, Var h, Var w) { return sum(f32(k(o, c, t)) * f32(x(c, h, w + t)), {c, t}); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("windows", {x, k, y}));
    Schedule s = scheduled(built);
    auto [o, h, w] = s[result].spatial<3>();
    auto [cs, ts] = s[result].reduction<2>();
    auto [oo, oi] = s[result].split(o, 16);
    auto [ho, hi] = s[result].split(h, 4);
    auto [wo, wi] = s[result].split(w, 8);
    auto [co, ci] = s[result].split(cs, 8);
    s[result].reorder(oo, ho, wo, co, oi, hi, wi, ci, ts);
    s[result].bind(oo, gpu::block_x).bind(ho, gpu::block_y).bind(wo, gpu::block_z);
    s[result].as_tile(oi, hi, wi, ci).as_tile(ts, 4);
    const std::string kernel = ir::tile::text(lowered(s)[0].kernel);
    CHECK_MESSAGE(kernel.find("mma") != std::string::npos, kernel);
    same(built, s, {{{"O", 17}, {"C", 3}, {"H", 5}, {"W", 9}}, {{"O", 1}, {"C", 9}, {"H", 1}, {"W", 1}}});
  }
}

TEST_CASE("stages between launches lie in memory, from the first place that is read on") {
  lang::DefinitionScope scope;
  Symbol R{"R", {.min = 3}};
  Tensor x = lang::make_input("x", f32, {R, 20}), y = lang::make_output("y", f32, {R, 17}),
         z = lang::make_output("z", i32, {R});
  Axis c{"c", 20};
  Tensor total = compute("total", {R}, [&](Var r) { return sum(x(r, c), c); });
  Tensor high = compute("high", [&](Var r, Var k) { return x(r, k) > 0; });
  Tensor centered = compute("centered", {R, 17}, [&](Var r, Var k) {
    return select(high(r, k + 2), x(r, k) * 20 - total(r), select(high(r, k + 3), 1.f, 2.f));
  });
  Tensor twice = compute("twice", {R}, [&](Var r) { return i32(centered(r, 16)) * 2; });
  const lang::Built built = (lang::bind(y, centered), lang::bind(z, twice), lang::build_program("between", {x, y, z}));
  Schedule s = scheduled(built);
  for (const Tensor& t : {total, high, centered, twice}) {
    const std::vector<Loop> loops = s[t].spatial_loops();
    auto [ro, ri] = s[t].split(loops[0], 8);
    s[t].bind(ro, gpu::block_x).as_tile(ri);
    if (loops.size() > 1) s[t].as_tile(loops[1], 32);
  }
  s[total].as_tile(s[total].reduction(), 32);
  const std::vector<TileLaunch> launches = lowered(s);
  CHECK(launches.size() == 4);
  const std::vector<TileTemporary> between = tile_temporaries(s.scheduled().program);
  REQUIRE(between.size() == 2);
  const TileTemporary& of_high = between[between[0].begin.size() == 2 ? 0 : 1];
  CHECK(ir::text(of_high.begin[1]) == "2");  // nobody reads its first two columns
  CHECK(ir::text(of_high.extents[1]) == "18");
  same(built, s, {{{"R", 3}}, {{"R", 8}}, {{"R", 21}}});
}

// y(i) by a schedule that splits i twice: the guards of the outer part are the same for a whole tile.
TEST_CASE("tiles without a point load and store nothing") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 12}), y = lang::make_output("y", f32, {N});
  Axis k{"k", 12};
  Tensor total = compute("total", {N}, [&](Var i) { return sum(x(i, k), k).from(x(i, 3)); });
  const lang::Built built = (lang::bind(y, total), lang::build_program("guarded", {x, y}));
  for (const bool tiles_of_terms : {false, true}) {
    Schedule s = scheduled(built);
    auto [io, ii] = s[total].split(s[total].spatial<1>()[0], 4);
    auto [ia, ib] = s[total].split(ii, 3);
    auto [ko, ki] = s[total].split(s[total].reduction(), 8);
    s[total].reorder(io, ia, ib, ko, ki).bind(io, gpu::block_x);
    if (tiles_of_terms) s[total].as_tile(ki);
    same(built, s, {{{"N", 1}}, {{"N", 4}}, {{"N", 9}}});
  }
}

TEST_CASE("sums under conditions of their points, of both, and of no term") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, K{"K"};
  Tensor x = lang::make_input("x", f32, {N, K}), y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {N});
  Axis k{"k", K}, l{"l", K};
  Tensor even = compute("even", {N}, [&](Var i) { return sum(x(i, k), k.where(i % 2 == 0)); });
  Tensor positive = compute("positive", {N}, [&](Var i) { return sum(x(i, l), l.where(l + i < N)); });
  const lang::Built built = (lang::bind(y, even), lang::bind(z, positive), lang::build_program("conditions", {x, y, z}));
  Schedule s = scheduled(built);
  for (const Tensor& t : {even, positive}) {
    auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 4);
    auto [ko, ki] = s[t].split(s[t].reduction(), 8);
    s[t].reorder(io, ko, ii, ki).bind(io, gpu::block_x).as_tile(ii, ki);
  }
  same(built, s, {{{"N", 1}, {"K", 0}}, {{"N", 6}, {"K", 9}}});
}

TEST_CASE("8-bit floats: maxima, and as conditions") {
  for (const Type type : {e4m3, e5m2}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", type, {N, 8}), y = lang::make_output("y", type, {N}),
           z = lang::make_output("z", bool_, {N, 8});
    Axis k{"k", 8};
    Tensor most = compute("most", {N}, [&](Var i) { return maximum(x(i, k), k); });
    Tensor any = compute("any", {N, 8}, [&](Var i, Var j) { return bool_(x(i, j)); });
    const lang::Built built = (lang::bind(y, most), lang::bind(z, any), lang::build_program("narrow", {x, y, z}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[most].split(s[most].spatial<1>()[0], 4);
    s[most].bind(io, gpu::block_x).as_tile(ii, s[most].reduction());
    auto [a, b] = s[any].spatial<2>();
    auto [ao, ai] = s[any].split(a, 2);
    s[any].bind(ao, gpu::block_x).as_tile(ai, b);
    same(built, s, {{{"N", 1}}, {{"N", 7}}});
  }
}

TEST_CASE("each launch has a name of its own, which a linker takes") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor first = compute("a step", {N}, [&](Var i) { return x(i) + 1; });
  Tensor second = compute("a step", {N}, [&](Var i) { return first(i) * 2; });
  const lang::Built built = (lang::bind(y, second), lang::build_program("named", {x, y}));
  Schedule s = scheduled(built);
  for (const Tensor& t : {first, second}) {
    auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 16);
    s[t].bind(io, gpu::block_x).as_tile(ii);
  }
  const std::vector<TileLaunch> launches = lowered(s);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel.name == "named_a_step");
  CHECK(launches[1].kernel.name == "named_a_step_2");
  same(built, s, {{{"N", 20}}});
}

TEST_CASE("starting values that load, of sums around loops of one point") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {6, 1, 3}), y = lang::make_output("y", f32, {6, 1});
  Axis k{"k", 3};
  Tensor total = compute("total", {6, 1}, [&](Var i, Var j) { return strict_sum(x(i, j, k), k).from(x(i, j, 2)); });
  const lang::Built built = (lang::bind(y, total), lang::build_program("one_point", {x, y}));
  Schedule s = scheduled(built);
  auto [i, j] = s[total].spatial<2>();
  auto [io, ii] = s[total].split(i, 4);
  s[total].reorder(io, s[total].reduction(), j, ii).bind(io, gpu::block_x).as_tile(ii);
  same(built, s, {{}});
}

TEST_CASE("every second row, every third column, from one of them on: views with steps") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {2 * M + 1, 3 * N}), w = lang::make_input("w", f32, {40}),
         y = lang::make_output("y", f32, {M, N}), z = lang::make_output("z", f32, {10});
  Tensor some = compute("some", {M, N}, [&](Var i, Var j) { return x(2 * i + 1, 3 * j) + x(2 * i, 3 * j + 2); });
  Tensor few = compute("few", {10}, [&](Var i) { return w(4 * i + 3) + w(4 * i + 1); });
  const lang::Built built = (lang::bind(y, some), lang::bind(z, few), lang::build_program("steps", {x, w, y, z}));
  Schedule s = scheduled(built);
  auto [i, j] = s[some].spatial<2>();
  auto [io, jo, ii, ji] = s[some].tile(i, j, 4, 8);
  s[some].bind(io, gpu::block_y).bind(jo, gpu::block_x).as_tile(ii, ji);
  auto [ko, ki] = s[few].split(s[few].spatial<1>()[0], 4);
  s[few].bind(ko, gpu::block_x).as_tile(ki);
  const std::vector<TileLaunch> launches = lowered(s);
  const std::string of_some = ir::tile::text(launches[0].kernel), of_few = ir::tile::text(launches[1].kernel);
  CHECK_MESSAGE(of_some.find("of x at every (2 from 1, 3 from 0)") != std::string::npos, of_some);
  CHECK(of_some.find("of x at every (2 from 0, 3 from 2)") != std::string::npos);
  CHECK(of_some.find("gather") == std::string::npos);
  CHECK(of_few.find("of w at every (4 from 3)") != std::string::npos);
  same(built, s, {{{"M", 1}, {"N", 1}}, {{"M", 9}, {"N", 11}}, {{"M", 0}, {"N", 3}}});
}

TEST_CASE("a stage between launches may lack a dimension: its elements are stored once") {
  const auto with = [](bool whole, auto&& use) {
    lang::DefinitionScope scope;
    Symbol N{"N"}, K{"K"}, E{"E", {.max = 64}};
    const Tensor x = lang::make_input("x", f32, {N, K}), w = lang::make_input("w", f32, {K, E}),
                 y = lang::make_output("y", f32, {N, E});
    const auto both = reducer(
        "both", {f32, f32}, {-1e30, 0}, [](Values<2> a, Values<2> b) { return values(max(a[0], b[0]), a[1] + b[1]); },
        Order::any);
    const Axis k{"k", K};
    auto [most, total] = compute("parts", {N, E}, [&](Var i, Var e) { return both(values(x(i, k), x(i, k) * w(k, e)), k); });
    const Tensor all = total, largest = most;
    const Tensor result = compute("result", {N, E}, [&](Var i, Var e) { return all(i, e) + largest(i, e); });
    lang::bind(y, result);
    const lang::Built built = lang::build_program("lacks", {x, w, y});
    Schedule s = scheduled(built);
    {
      auto [i, e] = s[all].spatial<2>();
      auto [io, ii] = s[all].split(i, 8);
      if (whole) {
        s[all].reorder(io, s[all].reduction(), ii, e).drop_dim(0, 1).bind(io, gpu::block_x).as_tile(ii).as_tile(e, 64);
      } else {
        auto [eo, ei] = s[all].split(e, 16);
        s[all].reorder(io, eo, s[all].reduction(), ii, ei).drop_dim(0, 1).bind(io, gpu::block_x).as_tile(ii, ei);
      }
    }
    auto [i, e] = s[result].spatial<2>();
    auto [io, eo, ii, ei] = s[result].tile(i, e, 8, 16);
    s[result].bind(io, gpu::block_x).bind(eo, gpu::block_y).as_tile(ii, ei);
    use(built, s);
  };
  with(true, [&](const lang::Built& built, const Schedule& s) {
    CHECK_MESSAGE(ir::tile::text(lowered(s)[0].kernel).find("  parts0: f32 [N]") != std::string::npos,
                  ir::tile::text(lowered(s)[0].kernel));
    same(built, s, {{{"N", 21}, {"K", 5}, {"E", 37}}, {{"N", 1}, {"K", 1}, {"E", 1}}, {{"N", 9}, {"K", 0}, {"E", 64}}}, 1e-5,
         1e-5);
  });
  with(false, [&](const lang::Built&, const Schedule& s) {
    const std::string why = refusal([&] { lowered(s); });
    CHECK_MESSAGE(
        why.find("expected a dimension of parts0 that it is stored without (drop_dim) as one tile") != std::string::npos, why);
  });
}
