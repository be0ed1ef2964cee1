// The families of schedules for tiles: what they make of their operators, and that the bytecode computes it.
#include <cmath>
#include <limits>

#include <ashlar/ops.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_attention.h>
#include <ashlar/schedules/tile_matmul.h>
#include <ashlar/schedules/tile_points.h>
#include <ashlar/schedules/tile_rows.h>

#include "tests/golden.h"
#include "tests/tileir/lowered.h"

using namespace tiles;

namespace {

std::string kernels(const Schedule& s) {
  std::string all;
  for (const TileLaunch& l : lowered(s)) all += ir::tile::text(l.kernel);
  return all;
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

struct Attending {
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"};
  Tensor q, k, v, y;
  ops::Attention attention;
  lang::Built built;
  Schedule s;
  Attending(Type type, std::int64_t D, std::int64_t E, const ops::AttentionOptions& o, Target target)
      : q(lang::make_input("q", type, {B, H * o.groups, M, D})),
        k(lang::make_input("k", type, {B, H, N, D})),
        v(lang::make_input("v", type, {B, H, N, E})),
        y(lang::make_output("y", type, {B, H * o.groups, M, E})),
        attention(ops::attention(q, k, v, o)),
        built((lang::bind(y, attention), lang::build_program("attention", {q, k, v, y}))),
        s(built, target) {}
};

}  // namespace

TEST_CASE("attention in one launch: both products by mma, nothing between launches") {
  const Target target = Target::parse("cuda-tile-sm_90");
  for (const auto& [causal, groups, window] :
       {std::tuple{ops::Causal::no, 1, 0}, {ops::Causal::first, 2, 0}, {ops::Causal::last, 1, 0}, {ops::Causal::last, 2, 5}}) {
    CAPTURE(static_cast<int>(causal));
    Attending a(bf16, 16, 12, {.causal = causal, .groups = groups, .window = window, .finite = true, .rounded = true}, target);
    schedules::tile_attention(a.s, a.attention, {.queries = 16, .keys = 16});
    if (std::getenv("ASHLAR_SHOW")) MESSAGE(a.s.text());
    CHECK(lowered(a.s).size() == 1);
    const std::string kernel = kernels(a.s);
    // A loop over the tiles of keys that every query sees, and one at each end of which some queries see a part.
    const int loops = 1 + (causal != ops::Causal::no) + (window > 0);
    CHECK(count(kernel, " = mma ") == 2 * loops);
    const std::size_t product = kernel.rfind(" = mma "), name = kernel.rfind('%', product);
    const std::string sums = kernel.substr(name, product - name);  // the loop carries them as they are: a running maximum
    CHECK_MESSAGE(kernel.find(", " + sums + "\n", product) != std::string::npos, kernel);
    CHECK(tile_temporaries(a.s.scheduled().program).empty());
    same(a.built, a.s, {{{"B", 1}, {"H", 2}, {"M", 21}, {"N", 37}}, {{"B", 2}, {"H", 1}, {"M", 1}, {"N", 1}}}, 2e-2, 2e-2);
  }
}

TEST_CASE("attention with approximate exponentials: the target's own powers of two, and a scale that is part of an fma") {
  const Target target = Target::parse("cuda-tile-sm_90");
  for (const auto& [causal, scale] : {std::pair{ops::Causal::no, 0.0}, {ops::Causal::last, 0.0}, {ops::Causal::first, -0.5}}) {
    CAPTURE(static_cast<int>(causal));
    Attending a(bf16, 16, 12, {.causal = causal, .scale = scale, .finite = true, .rounded = true, .approximate = true}, target);
    schedules::tile_attention(a.s, a.attention, {.queries = 16, .keys = 16});
    const std::string kernel = kernels(a.s);
    CHECK(count(kernel, " = mma ") == (causal == ops::Causal::no ? 2 : 4));
    CHECK_MESSAGE(count(kernel, " = approximate_exp2 ") >= 2, kernel);
    CHECK((count(kernel, " = fma ") > 0) == (scale >= 0));
    CHECK(a.s.to_cpp().find("approximate(exp2(") != std::string::npos);
    same(a.built, a.s, {{{"B", 1}, {"H", 2}, {"M", 21}, {"N", 37}}, {{"B", 2}, {"H", 1}, {"M", 1}, {"N", 1}}}, 2e-2, 2e-2);
  }
  Attending exact(bf16, 16, 12, {.finite = true, .rounded = true}, target);  // nothing is approximated unless it says so
  schedules::tile_attention(exact.s, exact.attention, {.queries = 16, .keys = 16});
  CHECK(count(kernels(exact.s), "approximate") == 0);
  CHECK(ir::text(exact.built.program).find("approximate") == std::string::npos);
  Attending by(bf16, 16, 16, {.rounded = true, .approximate = true}, target);
  const ScheduledByDefault made = schedule_by_default(by.built, target);
  CHECK_MESSAGE(made.choices.text().find("exponentials by the target's own instruction") != std::string::npos,
                made.choices.text());
  Attending threads(bf16, 64, 64, {.approximate = true}, target);  // targets with threads have one launch too
  const ScheduledByDefault other = schedule_by_default(threads.built, Target::parse("cuda-sm_90a"));
  CHECK_MESSAGE(other.choices.text().find("in the launch of attention") != std::string::npos, other.choices.text());
}

TEST_CASE("attention in one pass has no rounded and no approximate weights: refused") {
  const auto refused = [](const ops::AttentionOptions& o) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    const Tensor q = lang::make_input("q", bf16, {1, 1, N, 16});
    return refusal([&] { ops::attention_online(q, q, q, o); });
  };
  CHECK(refused({}) == "");
  CHECK(refused({.rounded = true}).find("expected options that it has, found rounded, of `attention`") != std::string::npos);
  CHECK(refused({.approximate = true}).find("found approximate, of `attention`") != std::string::npos);
}

TEST_CASE("tiles of keys that no query of a block sees are not computed: the loop begins and ends where the block sees keys") {
  const Target target = Target::parse("cuda-tile-sm_90");
  const auto loop_of = [&](const ops::AttentionOptions& o) {
    Attending a(bf16, 16, 16, o, target);
    schedules::tile_attention(a.s, a.attention, {.queries = 16, .keys = 16});
    const std::string all = kernels(a.s);
    const std::size_t at = all.find("  for ");
    REQUIRE(at != std::string::npos);
    const std::string before = all.substr(0, at);
    return std::to_string(count(before, " = min ")) + " " + std::to_string(count(before, " = max "));
  };
  CHECK(loop_of({.finite = true, .rounded = true}) == "0 0");
  CHECK(loop_of({.causal = ops::Causal::first, .finite = true, .rounded = true}) == "1 0");
  CHECK(loop_of({.causal = ops::Causal::last, .window = 5, .finite = true, .rounded = true}) ==
        "2 2");  // the ends of the first loop, at the window's rim, too
}

TEST_CASE("layer_norm is one launch by default: a row's mean, which the next sum reads, is no factor along results") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {M, N}), scale = lang::make_input("scale", f32, {N}),
               shift = lang::make_input("shift", f32, {N}), y = lang::make_output("y", f32, {M, N});
  lang::bind(y, ops::layer_norm(x, scale, shift));
  const lang::Built built = lang::build_program("norm", {x, scale, shift, y});
  const ScheduledByDefault made = schedule_by_default(built, Target::parse("cuda-tile-sm_90"));
  CHECK_MESSAGE(lowered(made.schedule).size() == 1, made.choices.text());
  same(built, made.schedule, {{{"M", 5}, {"N", 37}}, {{"M", 1}, {"N", 1}}, {{"M", 3}, {"N", 2100}}}, 1e-4, 1e-4);
}

TEST_CASE("approximations are within the bounds of docs/ir.md of the exact functions") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor result = compute("result", {N}, [&](Var i) { return approximate(exp2(x(i))); });
  const lang::Built built = (lang::bind(y, result), lang::build_program("powers", {x, y}));
  const ScheduledByDefault by = schedule_by_default(built, Target::parse("cuda-tile"));
  CHECK(count(kernels(by.schedule), " = approximate_exp2 ") == 1);
  const std::vector<double> at{0,
                               1,
                               -1,
                               0.3,
                               17.25,
                               -88.7,
                               127.99,
                               128,
                               -125,
                               -126.5,
                               -140,
                               -1e30,
                               1e30,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               1e-40};
  const auto n = static_cast<std::int64_t>(at.size());
  interp::Arguments args;
  args.push_back(interp::Actual{interp::Array::make(f32, {n}, [&](auto i) { return at[static_cast<std::size_t>(i[0])]; })});
  args.push_back(interp::Actual{interp::Array::make(f32, {n}, [&](auto) { return 0.0; })});
  for (const bool executed : {false, true}) {
    interp::Arguments found = args;
    const std::vector<TileLaunch> launches = lowered(by.schedule, {.aligned = false});
    executed ? execute(by.schedule.scheduled().program, launches, found, 7)
             : run(by.schedule.scheduled().program, launches, found);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double power = std::exp2(static_cast<double>(static_cast<float>(at[i])));
      const std::int64_t place = static_cast<std::int64_t>(i);
      const double result_at = found[1].array.at({&place, 1}).f;
      CAPTURE(at[i]);
      if (power > 0x1.fffffep127)
        CHECK(result_at > 0x1.fffffep127);
      else
        CHECK(std::abs(result_at - power) <= std::max(power * 0x1p-21, 0x1p-125));
    }
  }
}

TEST_CASE("the default schedule for tiles says what it took: products with what is computed for and of them, rows, points") {
  const Target target = Target::parse("cuda-tile-sm_90");
  {
    lang::DefinitionScope scope;
    Symbol G{"G"}, M{"M"}, N{"N"}, K{"K"};
    Tensor A = lang::make_input("A", bf16, {G, M, K}), B = lang::make_input("B", bf16, {G, N, K}),
           bias = lang::make_input("bias", f32, {N}), y = lang::make_output("y", bf16, {G, M, N});
    Axis k{"k", K};
    Tensor a = compute("a", {G, M, K}, [&](Var g, Var i, Var t) { return bf16(exp(f32(A(g, i, t)) / 8)); });
    Tensor product =
        compute("product", {G, M, N}, [&](Var g, Var i, Var j) { return sum(f32(a(g, i, k)) * f32(B(g, j, k)), k); });
    Tensor result = compute("result", {G, M, N}, [&](Var g, Var i, Var j) { return bf16(max(product(g, i, j) + bias(j), 0)); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("product", {A, B, bias, y}));
    const ScheduledByDefault by = schedule_by_default(built, target);
    const std::string text = by.choices.text();
    CHECK_MESSAGE(text.find("a tile of sums for each block, by mma (schedules::tile_matmul)") != std::string::npos, text);
    CHECK_MESSAGE(text.find("a: elementwise; inlined into product, whose blocks compute tiles of it") != std::string::npos,
                  text);
    CHECK_MESSAGE(text.find("computed of the tiles of product") != std::string::npos, text);
    CHECK(lowered(by.schedule).size() == 1);
    CHECK(count(kernels(by.schedule), " = mma ") == 2);  // whole tiles of terms, and the rest
    same(built, by.schedule, {{{"G", 2}, {"M", 9}, {"N", 130}, {"K", 70}}, {{"G", 1}, {"M", 1}, {"N", 1}, {"K", 1}}}, 2e-2,
         2e-2);
    const ScheduledByDefault exact = schedule_by_default(built, target, {.regroup = false});
    CHECK(count(kernels(exact.schedule), " = mma ") == 0);
    same(built, exact.schedule, {{{"G", 1}, {"M", 3}, {"N", 5}, {"K", 7}}});
  }
  for (const std::int64_t most : {512, 1 << 20}) {  // rows that fit a tile, and others
    lang::DefinitionScope scope;
    Symbol R{"R"}, C{"C", {.min = 1, .max = most}};
    Tensor x = lang::make_input("x", f32, {R, C}), y = lang::make_output("y", f32, {R, C});
    const auto softmax = ops::softmax(x);
    const lang::Built built = (lang::bind(y, softmax), lang::build_program("softmax", {x, y}));
    const ScheduledByDefault by = schedule_by_default(built, target);
    CHECK_MESSAGE(by.choices.text().find("rows in tiles, in one launch (schedules::tile_rows)") != std::string::npos,
                  by.choices.text());
    CHECK(lowered(by.schedule).size() == 1);
    CHECK(count(kernels(by.schedule), " for ") == (most == 512 ? 0 : 3));
    same(built, by.schedule, {{{"R", 1}, {"C", 1}}, {{"R", 11}, {"C", 300}}}, 1e-5, 1e-6);
  }
  {
    lang::DefinitionScope scope;
    Symbol A{"A"}, B{"B"}, C{"C"};
    Tensor x = lang::make_input("x", f16, {A, B, C}), y = lang::make_output("y", f16, {C, B, A});
    Tensor result = compute("result", {C, B, A}, [&](Var c, Var b, Var a) { return x(a, b, c); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("turned", {x, y}));
    const ScheduledByDefault by = schedule_by_default(built, target);
    const std::string kernel = kernels(by.schedule);
    CHECK_MESSAGE(kernel.find("permute") != std::string::npos, kernel);  // a tile of neighbors on either side
    CHECK(kernel.find("gather") == std::string::npos);
    same(built, by.schedule, {{{"A", 70}, {"B", 2}, {"C", 20}}, {{"A", 1}, {"B", 1}, {"C", 1}}});
  }
}

TEST_CASE("convolutions of 16 bits are products whose columns are pixels, in both layouts, with stride and padding") {
  for (const Type type : {f16, bf16})
    for (const ops::Layout layout : {ops::Layout::channels_first, ops::Layout::channels_last}) {
      const bool first = layout == ops::Layout::channels_first;
      lang::DefinitionScope scope;
      Symbol N{"N"}, C{"C", {.min = 1}}, H{"H", {.min = 4}}, W{"W", {.min = 4}}, O{"O"};
      Tensor x = first ? lang::make_input("x", type, {N, C, H, W}) : lang::make_input("x", type, {N, H, W, C}),
             w = first ? lang::make_input("w", type, {O, C, 3, 3}) : lang::make_input("w", type, {3, 3, C, O});
      const auto conv = ops::conv2d(x, w, Tensor(), {.stride = {2, 1}, .padding = {1, 1}, .layout = layout});
      const Tensor result = conv;
      Tensor y = first ? lang::make_output("y", type, {N, O, result.extent(2), result.extent(3)})
                       : lang::make_output("y", type, {N, result.extent(1), result.extent(2), O});
      const lang::Built built = (lang::bind(y, result), lang::build_program("conv", {x, w, y}));
      const ScheduledByDefault by = schedule_by_default(built, Target::parse("cuda-tile-sm_80"));
      CHECK_MESSAGE(lowered(by.schedule).size() == 1, by.choices.text());
      CHECK(count(kernels(by.schedule), " = mma ") == 1);
      same(built, by.schedule, {{{"N", 2}, {"C", 3}, {"H", 7}, {"W", 18}, {"O", 5}}}, type == f16 ? 4e-3 : 3e-2, 1e-2);
    }
}

TEST_CASE("what the families refuse, by the name of the family") {
  const Target target = Target::parse("cuda-tile");
  Attending a(bf16, 16, 16, {.causal = ops::Causal::first, .rounded = true}, target);  // without finite
  CHECK(refusal([&] {
          schedules::tile_attention(a.s, a.attention);
        }).find("tile_attention: expected an attention of f16 or bf16") != std::string::npos);
  Attending b(bf16, 16, 16, {.rounded = true}, target);
  CHECK(refusal([&] {
          schedules::tile_attention(b.s, b.attention, {.keys = 24});
        }).find("keys that are a power of two, found 24") != std::string::npos);
  Attending c(bf16, 16, 16, {.rounded = true}, Target::parse("x86-64"));
  CHECK(refusal([&] {
          schedules::tile_attention(c.s, c.attention);
        }).find("tile_attention: expected a target with tiles, such as cuda-tile-sm_90, found the target x86-64") !=
        std::string::npos);
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  const lang::Built built = (lang::bind(y, twice), lang::build_program("twice", {x, y}));
  Schedule s(built, target);
  CHECK(refusal([&] { schedules::tile_matmul(s, s[twice]); }).find("tile_matmul: expected a sum of products of two factors") !=
        std::string::npos);
  CHECK(refusal([&] { schedules::tile_rows(s, {}); }).find("tile_rows: expected at least one stage") != std::string::npos);
  CHECK(refusal([&] {
          schedules::tile_points(s, s[twice], {.columns = 48});
        }).find("columns that are a power of two, found 48") != std::string::npos);
}

TEST_CASE("a scatter of floats by default: refused where sums are not to be regrouped, as memory adds in any order") {
  const auto made = [](Type type, bool regroup) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor at = lang::make_input("at", i32, {N}), x = lang::make_input("x", type, {N}), y = lang::make_output("y", type, {64});
    Tensor sums =
        scatter("sums", {64}, Combine::add, ir::cast(type, i32(0)), {N}, [&](Var n) { return put(x(n), at(n) & 63); });
    const lang::Built built = (lang::bind(y, sums), lang::build_program("index_add", {at, x, y}));
    return refusal([&] { schedule_by_default(built, Target::parse("cuda-tile-sm_90"), {.regroup = regroup}); });
  };
  CHECK(made(i32, false) == "");
  CHECK(made(f32, true) == "");
  const std::string why = made(f32, false);
  CHECK_MESSAGE(why.find("families_test.cpp:") != std::string::npos, why);
  CHECK_MESSAGE(why.find("expected scatters of integers, or sums that may be regrouped (.regroup), for cuda-tile-sm_90, found "
                         "sums, of f32") != std::string::npos,
                why);
}

TEST_CASE("a scan by default: tiles of steps if its reducer lets terms be swapped, and step after step otherwise") {
  for (const Order order : {Order::any, Order::regroup, Order::exact}) {
    CAPTURE(static_cast<int>(order));
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", i32, {3, N}), y = lang::make_output("y", i32, {3, N}),
           z = lang::make_output("z", i32, {3, N});
    const bool swaps = order == Order::any;
    const auto by = reducer(
        "by", {i32, i32}, {swaps ? 0 : 1, 0},
        [&](Values<2> a, Values<2> b) {
          return swaps ? values(a[0] + b[0], a[1] | b[1]) : values(a[0] * b[0], a[1] * b[0] + b[1]);
        },
        order);
    const std::array<Tensor, 2> all =
        scan("t", {3, N}, Along{1}, by, [&](Var r, Var i) { return values(x(r, i) % 3, x(r, i)); });
    const lang::Built built = (lang::bind(y, all[0]), lang::bind(z, all[1]), lang::build_program("scans", {x, y, z}));
    const ScheduledByDefault made = schedule_by_default(built, Target::parse("cuda-tile-sm_90"));
    CHECK((count(kernels(made.schedule), "= scan ") > 0) == swaps);
    same(built, made.schedule, {{{"N", 1}}, {{"N", 300}}});
  }
}
