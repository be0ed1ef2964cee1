// Schedules with blocks and threads, lowered and run: launches, guards, as few barriers as will do, and no race.
#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

using text_parts::count;

// The program, the kernel (a golden file), the number of its barriers, and its results, in race mode.
template <class Operator, class... How>
void check(const std::string& name, std::size_t barriers, const std::vector<Sizes>& shapes, const char* target = "vulkan",
           How... how) {
  Operator op{Target::parse(target), how...};
  std::string text;
  handmade::launched(op.s, &text);
  handmade::golden("launch_" + name, op.s.text() + "\n" + text);
  CHECK(count(text, "barrier of the block") == barriers);
  handmade::same_on_device(op.built.program, op.s, shapes);
}

}  // namespace

TEST_CASE("elementwise with broadcasting") {
  check<gpu_operators::AddBias>("add_bias", 0,
                                {{{"M", 3}, {"N", 64}}, {{"M", 2}, {"N", 130}}, {{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 5}}});
}

TEST_CASE("transposition through shared memory") {
  check<gpu_operators::Transpose>("transpose", 1, {{{"M", 32}, {"N", 64}}, {{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("a product with shared tiles and register tiles") {
  check<gpu_operators::Product>(
      "product", 2, {{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}});
}

TEST_CASE("row softmax") {
  check<gpu_operators::Softmax>("softmax", 2, {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("the sum of a vector, in two launches") {
  check<gpu_operators::Sum>("sum", 1, {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}});
}

TEST_CASE("3x3 convolution") {
  check<gpu_operators::Conv3x3>("conv3x3", 0,
                                {{{"H", 8}, {"W", 16}, {"C", 2}, {"D", 2}}, {{"H", 9}, {"W", 3}, {"C", 1}, {"D", 1}}});
}

TEST_CASE("attention, a query a block") {
  check<gpu_operators::Attention>(
      "attention", 2, {{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}, {{"H", 1}, {"M", 0}, {"N", 3}}});
}

TEST_CASE("a block of no whole warps is one on which nothing that needs warps may count") {
  gpu_operators::Sum op{Target::parse("cuda-sm_80")};
  std::string text;
  const ir::Kernel k = handmade::launched(op.s, &text);
  REQUIRE(k.body.size() == 2);
  CHECK(k.body[0].get<ir::KLaunch>().threads == 128);
  CHECK(k.body[0].get<ir::KLaunch>().warp == 32);
  CHECK(k.body[1].get<ir::KLaunch>().threads == 1);
  CHECK(k.body[1].get<ir::KLaunch>().warp == 1);
}

TEST_CASE("row softmax by trees over the threads of a block") {
  const std::vector<Sizes> shapes{{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 3}}};
  check<gpu_operators::SoftmaxTree>("softmax_tree", 4, shapes);
  check<gpu_operators::SoftmaxTree>("softmax_tree_cuda", 2, shapes, "cuda-sm_80");
}

TEST_CASE("sums of rows, a warp a row") {
  const std::vector<Sizes> shapes{{{"M", 4}, {"N", 64}}, {{"M", 5}, {"N", 100}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}};
  check<gpu_operators::RowSums>("row_sums", 2, shapes);
  check<gpu_operators::RowSums>("row_sums_cuda", 0, shapes, "cuda-sm_80");
}

TEST_CASE("the sum of a vector, by trees") {
  const std::vector<Sizes> shapes{{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}};
  check<gpu_operators::SumTree>("sum_tree", 4, shapes);
  check<gpu_operators::SumTree>("sum_tree_cuda", 2, shapes, "cuda-sm_80");
}

TEST_CASE("a pipelined product") {
  const std::vector<Sizes> shapes{{{"M", 32}, {"N", 32}, {"K", 80}},
                                  {{"M", 33}, {"N", 35}, {"K", 17}},
                                  {{"M", 32}, {"N", 8}, {"K", 49}},
                                  {{"M", 1}, {"N", 2}, {"K", 3}}};
  check<gpu_operators::PipelinedProduct>("pipelined_2", 1, shapes, "vulkan", 2, false, 1);
  check<gpu_operators::PipelinedProduct>("pipelined_3", 1, shapes, "vulkan", 3, false, 1);
  check<gpu_operators::PipelinedProduct>("pipelined_2_cuda", 1, shapes, "cuda-sm_80", 2, true, 1);
  check<gpu_operators::PipelinedProduct>("pipelined_3_cuda", 1, shapes, "cuda-sm_80", 3, true, 1);
}

TEST_CASE("virtual threads") {
  const std::vector<Sizes> shapes{{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}};
  check<gpu_operators::PipelinedProduct>("virtual", 2, shapes, "vulkan", 1, false, 2);
  check<gpu_operators::PipelinedProduct>("virtual_pipelined", 1, shapes, "vulkan", 2, false, 2);
}

namespace {

// total = the sum of all x; mean = total / N, which has no loops; y = x - mean.
struct Centered {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Axis k{"k", N};
  Tensor total = compute("total", Shape{}, [&](Indices) { return sum(x(k), k); });
  Tensor mean = compute("mean", Shape{}, [&](Indices) { return total() / f32(N); });
  lang::Built built = build();
  Schedule s{built, Target::parse("vulkan")};

  lang::Built build() {
    lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) - mean(); }));
    return lang::build_program("centered", {x, y});
  }
};

}  // namespace

TEST_CASE("a reduction by one block, a stage without loops, and blocks that read both") {
  Centered p;
  auto [ko, ki] = p.s[p.total].split(p.s[p.total].reduction(), 32);
  p.s[p.total].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  auto [io, ii] = p.s[p.y].split(p.s[p.y].spatial<1>()[0], 64);
  p.s[p.y].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
  const ir::Kernel k = handmade::launched(p.s);
  REQUIRE(k.body.size() == 3);
  CHECK(k.body[0].get<ir::KLaunch>().threads == 32);  // the start of the parts, the loop over threads and their combination
  CHECK(k.body[1].get<ir::KLaunch>().threads == 1);
  CHECK(k.body[2].get<ir::KLaunch>().threads == 64);
  handmade::same_on_device(p.built.program, p.s, {{{"N", 100}}, {{"N", 1}}, {{"N", 64}}});
}

TEST_CASE("a loop over threads of which no iteration is left") {
  lang::DefinitionScope scope;
  Tensor a = lang::make_input("a", f32, {1}), b = lang::make_output("b", f32, {1});
  lang::bind(b, compute("b", {1}, [&](Var i) { return a(i) + 1.0f; }));
  const lang::Built built = lang::build_program("one", {a, b});
  Schedule s{built, Target::parse("vulkan")};
  auto [io, ii] = s[b].split(s[b].spatial<1>()[0], 2, Tail::peel);  // full tiles of 2: none
  s[b].bind(ii, gpu::thread_x);
  handmade::same_on_device(built.program, s, {{}});
}

TEST_CASE("shared memory of a launch that has nothing to do") {
  lang::DefinitionScope scope;
  Tensor a = lang::make_input("a", f32, {4, 4}), b = lang::make_output("b", f32, {4, 0});
  Tensor half = compute("half", {4, 0}, [&](Var i, Var j) { return a(i, j) * 0.5f; });
  lang::bind(b, compute("b", {4, 0}, [&](Var i, Var j) { return half(i, j) + 1.0f; }));
  const lang::Built built = lang::build_program("nothing", {a, b});
  Schedule s{built, Target::parse("vulkan")};
  auto [i, j] = s[b].spatial<2>();
  s[b].bind(i, gpu::block_x);
  s[half].compute_at(i).store_in(Scope::shared);
  handmade::same_on_device(built.program, s, {{}});
}

TEST_CASE("the start of a reduction and its steps, in lanes of which some are guarded") {
  lang::DefinitionScope scope;
  Tensor a = lang::make_input("a", f32, {3, 1}), o = lang::make_output("o", f32, {3, 1});
  Axis k{"k", 2};
  lang::bind(o, compute("o", {3, 1}, [&](Var i, Var j) { return sum(a(i, j), k); }));
  const lang::Built built = lang::build_program("guarded", {a, o});
  Schedule s{built, Target::parse("vulkan")};
  auto [i, j] = s[o].spatial<2>();
  s[o].bind(i, gpu::thread_x);
  auto [jo, ji] = s[o].split(j, 2);
  s[o].vectorize(ji);
  CHECK(handmade::barriers(handmade::launched(s)) == 0);
  handmade::same_on_device(built.program, s, {{}});
}

TEST_CASE("a loop over threads of one iteration or none") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.max = 1}};
  Tensor a = lang::make_input("a", f32, {N}), o = lang::make_output("o", f32, {N}), one = lang::make_output("one", f32, {1});
  lang::bind(o, compute("o", {N}, [&](Var i) { return a(i) + 1.0f; }));
  lang::bind(one, compute("one", {1}, [&](Var) { return Expr(1.0f); }));
  const lang::Built built = lang::build_program("few", {a, o, one});
  Schedule s{built, Target::parse("vulkan")};
  s[o].bind(s[o].spatial<1>()[0], gpu::thread_x);
  s[one].bind(s[one].spatial<1>()[0], gpu::thread_x);
  handmade::same_on_device(built.program, s, {{{"N", 0}}, {{"N", 1}}});
}

TEST_CASE("one value that thread 0 computes for all is waited for") {
  // the value has one place, so that all touch the same address; but what the others read is not their own
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor first = compute("first", Shape{}, [&](Indices) { return x(0) * 2.0f; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) - first(); }));
  const lang::Built built = lang::build_program("one_value", {x, y});
  Schedule s{built, Target::parse("vulkan")};
  auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 64);
  s[y].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
  s[first].compute_at(io).store_in(Scope::shared);
  CHECK(handmade::barriers(handmade::launched(s)) == 1);
  handmade::same_on_device(built.program, s, {{{"N", 100}}, {{"N", 1}}, {{"N", 64}}});
}

TEST_CASE("a load takes along what it is computed from (fuzz seed 300651)") {
  // the loops of both loads have one iteration, so that nothing but what they touch tells whose a statement is
  for (bool pipelined : {false, true}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N, N});
    Tensor inner = compute("inner", {N}, [&](Var i) { return x(i) * 2.0f; });
    Tensor outer = compute("outer", {N}, [&](Var i) { return inner(i) + 1.0f; });
    lang::bind(y, compute("y", {N, N}, [&](Var i, Var j) { return outer(i) * x(j); }));
    const lang::Built built = lang::build_program("twofold", {x, y});
    Schedule s{built, Target::parse("vulkan")};
    auto [i, j] = s[y].spatial<2>();
    auto [io, ii] = s[y].split(i, 4);
    auto [jo, ji] = s[y].split(j, 32);
    s[y].bind(io, gpu::block_x).bind(ji, gpu::thread_x);
    s[outer].compute_at(ii).store_in(Scope::shared);
    Loop only = s[outer].spatial<1>()[0];
    s[inner].compute_at(only).store_in(Scope::shared);
    if (pipelined) s[outer].pipeline(only, {.stages = 2, .loads = {s[inner]}});
    s[y].pipeline(ii, {.stages = 2, .loads = {s[outer]}});
    handmade::same_on_device(built.program, s, {{{"N", 6}}, {{"N", 1}}, {{"N", 0}}});
  }
}

TEST_CASE("a pipeline whose loads load nothing (fuzz seed 303730)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Axis k{"k", 0};
  Tensor tile = compute("tile", {0}, [&](Var i) { return x(i); });
  lang::bind(y, compute("y", {N}, [&](Var) { return sum(tile(k), k); }));
  const lang::Built built = lang::build_program("nothing", {x, y});
  Schedule s{built, Target::parse("vulkan")};
  Loop i = s[y].spatial<1>()[0];
  auto [io, ii] = s[y].split(i, 4);
  s[y].bind(io, gpu::block_x);
  s[tile].compute_at(ii).store_in(Scope::shared);
  s[y].pipeline(ii, {.stages = 2, .loads = {s[tile]}});
  handmade::same_on_device(built.program, s, {{{"N", 6}}, {{"N", 0}}});
}

TEST_CASE("a program without any loops is a launch of one thread (fuzz seed 7005)") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    lang::DefinitionScope scope;
    Tensor x = lang::make_input("x", f32, {}), y = lang::make_output("y", f32, {});
    lang::bind(y, compute("y", Shape{}, [&](Indices) { return x() + 1.0f; }));
    const lang::Built built = lang::build_program("one", {x, y});
    const Schedule s{built, Target::parse(target)};
    const ir::Kernel k = handmade::launched(s);
    REQUIRE(k.body.size() == 1);
    REQUIRE(k.body[0].is<ir::KLaunch>());
    CHECK(k.body[0].get<ir::KLaunch>().threads == 1);
    handmade::same_on_device(built.program, s, {{}});
  }
}

TEST_CASE("what is near already is not prefetched, what is far is (fuzz seed 11401)") {
  for (const Scope& near : {Scope::shared, Scope::registers, Scope::global}) {
    lang::DefinitionScope scope;
    Symbol M{"M"};
    Tensor x = lang::make_input("x", f32, {M, 8}), y = lang::make_output("y", f32, {M, 8});
    Tensor twice = compute("twice", {M, 8}, [&](Var i, Var j) { return x(i, j) * 2.0f; });
    lang::bind(y, compute("y", {M, 8}, [&](Var i, Var j) { return twice(i, j) + 1.0f; }));
    const lang::Built built = lang::build_program("ahead", {x, y});
    Schedule s{built, Target::parse("cuda-sm_80")};
    auto [i, j] = s[y].spatial<2>();
    s[y].bind(i, gpu::block_x);
    if (near == Scope::global)
      s[twice].bind(s[twice].spatial<2>()[0], gpu::block_x);  // a launch of its own, which leaves it in the workspace
    else
      s[twice].compute_at(i).store_in(near);
    if (near == Scope::registers) s[twice].unroll(s[twice].spatial<2>()[1]);
    s[y].prefetch(j, twice, 2);
    if (near == Scope::registers) s[y].unroll(j);
    const std::string text = ir::text(handmade::launched(s));
    CAPTURE(text);
    CHECK((text.find("prefetch twice") != std::string::npos) == (near == Scope::global));
    handmade::same_on_device(built.program, s, {{{"M", 3}}, {{"M", 0}}});
  }
}
