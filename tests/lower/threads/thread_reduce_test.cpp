// Reductions over threads: every axis that a loop can be bound to, every reducer and type, values kept apart inside the
// reduction.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

enum class By { sum, largest, smallest };

// y[i] = a reduction over row i of x
struct Rows {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x, y;
  Axis k{"k", N};
  Tensor result;
  lang::Built built;
  Schedule s;
  explicit Rows(const char* target, Type t = f32, By by = By::sum)
      : x(lang::make_input("x", t, {M, N})),
        y(lang::make_output("y", t, {M})),
        result(compute("result", {M},
                       [&](Var i) {
                         if (by == By::largest) return maximum(x(i, k), k);
                         return by == By::smallest ? minimum(x(i, k), k) : sum(x(i, k), k);
                       })),
        built((lang::bind(y, result), lang::build_program("rows", {x, y}))),
        s(built, Target::parse(target)) {}

  void same(std::size_t barriers, std::size_t of_warps = 0) {
    const ir::Kernel kernel = handmade::launched(s);
    CHECK(handmade::barriers(kernel) == barriers);
    CHECK(handmade::barriers(kernel, ir::Sync::Kind::warp) == of_warps);
    handmade::same_on_device(built.program, s,
                             {{{"M", 5}, {"N", 300}}, {{"M", 4}, {"N", 31}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}});
  }
};

}  // namespace

TEST_CASE("over thread_y, with rows along x") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Rows r(target);
    auto [io, ii] = r.s[r.result].split(r.s[r.result].spatial<1>()[0], 8);
    auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 16);
    r.s[r.result].bind(io, gpu::block_x).bind(ii, gpu::thread_x).cross_thread_reduce(ki).bind(ki, gpu::thread_y);
    r.same(1);  // lanes 8 and 16 apart exchange by shuffles, four warps by shared memory; 16 parts there without shuffles
  }
}

TEST_CASE("over all threads, over a warp's lanes, over warps") {
  {
    Rows r("cuda-sm_80");
    Loop i = r.s[r.result].spatial<1>()[0];
    auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 24);
    r.s[r.result].bind(i, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::lane);  // 24 of 32 lanes have a part
    r.same(0);
  }
  {
    Rows r("cuda-sm_80");
    auto [io, ii] = r.s[r.result].split(r.s[r.result].spatial<1>()[0], 2);
    auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 4);
    r.s[r.result].bind(io, gpu::block_x).bind(ii, gpu::lane).cross_thread_reduce(ki).bind(ki, gpu::warp);
    r.same(1);
  }
  {  // two loops of one reduction: warps of lanes
    Rows r("cuda-sm_80");
    Loop i = r.s[r.result].spatial<1>()[0];
    auto [ko, k1] = r.s[r.result].split(r.s[r.result].reduction(), 128);
    auto [kw, kl] = r.s[r.result].split(k1, 32);
    r.s[r.result].bind(i, gpu::block_x).cross_thread_reduce(kw).bind(kw, gpu::warp).cross_thread_reduce(kl).bind(kl, gpu::lane);
    r.same(1);
  }
}

TEST_CASE("more than 256 threads take two levels of shared memory") {
  Rows r("vulkan");
  Loop i = r.s[r.result].spatial<1>()[0];
  auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 300);
  r.s[r.result].bind(i, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  r.same(3);
}

TEST_CASE("reducers and types") {
  for (const char* target : {"vulkan", "cuda-sm_80"})
    for (Type t : {f32, f64, i32, u8, i64, f16})
      for (By by : {By::sum, By::largest, By::smallest}) {
        CAPTURE(ir::text(t));
        CAPTURE(std::string(target));
        Rows r(target, t, by);
        Loop i = r.s[r.result].spatial<1>()[0];
        auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 32);
        r.s[r.result].bind(i, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
        const bool warps = std::string(target) != "vulkan";  // values of 32 bits go from lane to lane
        r.same(warps ? 0 : 2, warps && t.bits != 32 ? 2 : 0);
      }
}

TEST_CASE("several values inside the reduction, and a reduction in two pieces") {
  for (bool unrolled : {false, true}) {
    Rows r("vulkan");
    auto [io, ii] = r.s[r.result].split(r.s[r.result].spatial<1>()[0], 4);
    auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 16);
    r.s[r.result].bind(io, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::thread_x).reorder(io, ki, ko, ii);
    if (unrolled) r.s[r.result].unroll(ii);
    // each of the four values goes through the same memory: the next waits until all have read this one
    const ir::Kernel k = handmade::launched(r.s);
    CHECK(handmade::barriers(k) == (unrolled ? 8 : 2));
    handmade::same_on_device(r.built.program, r.s, {{{"M", 5}, {"N", 40}}, {{"M", 8}, {"N", 3}}});
  }
  Rows r("vulkan");
  Loop i = r.s[r.result].spatial<1>()[0];
  auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 16);
  r.s[r.result].peel(ko, Peel::last);
  r.s[r.result].bind(i, gpu::block_x);
  Loop last = r.s[r.result].nest()[1];
  (void)last;
  r.s[r.result].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  handmade::same_on_device(r.built.program, r.s, {{{"M", 3}, {"N", 40}}, {{"M", 2}, {"N", 16}}});
}

TEST_CASE("into shared memory, and inside a loop") {
  // z[i, j] = x[i, j] - sum of row i, the sums in shared memory, four rows a block one after another
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), z = lang::make_output("z", f32, {M, N});
  Axis k{"k", N};
  Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k); });
  lang::bind(z, compute("z", {M, N}, [&](Var i, Var j) { return x(i, j) - total(i); }));
  lang::Built built = lang::build_program("centered", {x, z});
  Schedule s(built, Target::parse("vulkan"));
  auto [i, j] = s[z].spatial<2>();
  auto [io, ii] = s[z].split(i, 4);
  auto [jo, ji] = s[z].split(j, 32);
  s[z].bind(io, gpu::block_x).bind(ji, gpu::thread_x);
  s[total].compute_at(ii).store_in(Scope::shared);
  auto [ko, ki] = s[total].split(s[total].reduction(), 32);
  s[total].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  handmade::same_on_device(built.program, s, {{{"M", 5}, {"N", 70}}, {{"M", 4}, {"N", 1}}});
  CHECK(handmade::barriers(handmade::launched(s)) == 4);  // two of the tree; around the sum: seen by all, read by all
}

TEST_CASE("a term that does not use the loop's variable counts once an iteration") {
  // lanes past the last iteration have no term, though nothing in it says so
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {M});
  Axis k{"k", 48};  // no remainder, whose condition would use the variable
  Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i), k); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("times", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  Loop i = s[total].spatial<1>()[0];
  auto [ko, ki] = s[total].split(s[total].reduction(), 24);
  s[total].bind(i, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::lane);
  handmade::same_on_device(built.program, s, {{{"M", 2}}});
}

TEST_CASE("all threads of a block add up what a loop over few of them needs (made smaller from fuzz seed 843220)") {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M, 48}), y = lang::make_output("y", f32, {M, 4});
  Axis k{"k", 48};
  Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k); });
  lang::bind(y, compute("y", {M, 4}, [&](Var i, Var j) { return total(i) * x(i, j); }));
  const lang::Built built = lang::build_program("shares", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  auto [i, j] = s[y].spatial<2>();
  s[y].bind(i, gpu::block_x);
  s[total].compute_at(j).store_in(Scope::shared).cross_thread_reduce(s[total].reduction());
  s[y].bind(j, gpu::thread_x);  // four threads
  s[total].bind(s[total].reduction(), gpu::thread_x);
  handmade::same_on_device(built.program, s, {{{"M", 3}}, {{"M", 0}}});
}

TEST_CASE("a reduction over threads inside another combines its own parts alone (fuzz seed 843220)") {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M, 48}), y = lang::make_output("y", f32, {M});
  Axis k{"k", 48}, l{"l", 4};
  Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k); });
  Tensor times = compute("times", {M}, [&](Var i) { return sum(total(i), l); });
  lang::bind(y, times);
  const lang::Built built = lang::build_program("twice", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  const Loop over = s[times].reduction(), inner = s[total].reduction();
  s[times].bind(s[times].spatial<1>()[0], gpu::block_x).cross_thread_reduce(over);
  s[total].compute_at(over).store_in(Scope::shared).cross_thread_reduce(inner);
  s[times].bind(over, gpu::threads);
  s[total].bind(inner, gpu::thread_x);
  handmade::same_on_device(built.program, s, {{{"M", 3}}, {{"M", 0}}});
}

TEST_CASE("a remainder that accumulates into memory comes after the init, before the parts are added (fuzz seed 138018)") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"};
    Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {});
    Axis i{"i", M}, k{"k", N};
    Tensor total = compute("total", Shape{}, [&](Indices) { return sum(x(i, k), {i, k}); });
    lang::bind(y, total);
    const lang::Built built = lang::build_program("all", {x, y});
    Schedule s(built, Target::parse(target));
    auto [ko, ki] = s[total].split(s[total].reduction<2>()[1], 16, Tail::peel);
    s[total].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    handmade::same_on_device(built.program, s,
                             {{{"M", 3}, {"N", 40}}, {{"M", 2}, {"N", 3}}, {{"M", 1}, {"N", 16}}, {{"M", 0}, {"N", 5}}});
  }
}

TEST_CASE("virtual threads inside a reduction over threads (fuzz seed 136095)") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Rows r(target);
    auto [io, ii] = r.s[r.result].split(r.s[r.result].spatial<1>()[0], 2);
    auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 64);
    r.s[r.result].bind(io, gpu::block_x).cross_thread_reduce(ki).reorder(ki, ko, ii).bind(ki, gpu::thread_x).vthread(ii);
    handmade::same_on_device(r.built.program, r.s, {{{"M", 5}, {"N", 100}}, {{"M", 4}, {"N", 31}}, {{"M", 2}, {"N", 0}}});
  }
}

TEST_CASE("a prefetch asks for what the steps of a reduction over threads read (fuzz seed 200476)") {
  Rows r("cuda-sm_80");
  Loop i = r.s[r.result].spatial<1>()[0];
  auto [io, ii] = r.s[r.result].split(i, 4);
  auto [ko, ki] = r.s[r.result].split(r.s[r.result].reduction(), 32);
  r.s[r.result].prefetch(ii, r.x, 1).bind(io, gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::lane);
  r.same(0);
}

TEST_CASE("what the start of a reduction over threads reads is prefetched (fuzz seeds 619169, 946766)") {
  for (const bool split : {false, true}) {  // all of it over threads, where the start comes with the parts; or in strides
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N", {.max = 64}};
    Tensor x = lang::make_input("x", f32, {M, N}), first = lang::make_input("first", f32, {M}),
           y = lang::make_output("y", f32, {M});
    Axis k{"k", N};
    Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k).from(first(i)); });
    lang::bind(y, total);
    const lang::Built built = lang::build_program("from", {x, first, y});
    Schedule s{built, Target::parse("cuda-sm_80")};
    auto [io, ii] = s[total].split(s[total].spatial<1>()[0], 4);
    s[total].prefetch(ii, first, 1).bind(io, gpu::block_x);
    Loop over = s[total].reduction();
    if (split) over = s[total].split(over, 32).inner;
    s[total].cross_thread_reduce(over).bind(over, gpu::thread_x);
    const std::string text = ir::text(handmade::launched(s));
    CAPTURE(text);
    CHECK(text.find("prefetch first[") != std::string::npos);
    handmade::same_on_device(built.program, s, {{{"M", 5}, {"N", 40}}, {{"M", 2}, {"N", 1}}, {{"M", 3}, {"N", 0}}});
  }
}

TEST_CASE("threads combine their parts alike, whatever points each has") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    lang::DefinitionScope scope;
    Symbol N{"N"}, K{"K"};
    Tensor x = lang::make_input("x", f32, {N, K}), y = lang::make_output("y", f32, {N});
    Axis k{"k", K};
    Tensor total = compute("total", [&](Var i) { return sum(x(i, k), k); });
    lang::bind(y, compute("y", {N}, [&](Var i) { return total(i) * 2.0f; }));
    const lang::Built built = lang::build_program("rows", {x, y});
    Schedule s(built, Target::parse(target));  // a row a thread_y, of which the last block has fewer
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 4);
    s[y].bind(io, gpu::block_x).bind(ii, gpu::thread_y);
    s[total].compute_at(ii).store_in(Scope::registers);
    auto [ko, ki] = s[total].split(s[total].reduction(), 32);
    s[total].reorder(ko, ki, s[total].spatial<1>()[0]).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    handmade::same_on_device(built.program, s,
                             {{{"N", 7}, {"K", 40}}, {{"N", 1}, {"K", 3}}, {{"N", 0}, {"K", 3}}, {{"N", 5}, {"K", 0}}});
  }
}

TEST_CASE("tiles inside a reduction over threads that end with their thread") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    lang::DefinitionScope scope;
    Symbol K{"K"};
    Tensor x = lang::make_input("x", f32, {K, 6}), y = lang::make_output("y", f32, {6});
    Axis k{"k", K};
    Tensor total = compute("total", {6}, [&](Var j) { return sum(x(k, j), k); });
    lang::bind(y, total);
    const lang::Built built = lang::build_program("columns", {x, y});
    Schedule s(built, Target::parse(target));
    auto [jo, ji] = s[total].split(s[total].spatial<1>()[0], 4);
    auto [ko, ki] = s[total].split(s[total].reduction(), 32);
    s[total].reorder(jo, ko, ji, ki).tighten(ji).bind(jo, gpu::thread_x);
    s[total].cross_thread_reduce(ki).bind(ki, gpu::thread_y);
    handmade::same_on_device(built.program, s, {{{"K", 40}}, {{"K", 1}}, {{"K", 0}}});
  }
}
