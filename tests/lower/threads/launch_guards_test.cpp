// Launches whose statements need guards of every kind: storage that no thread loop fills, threads of other shapes than the
// block, halos, vectors, warps, tiles that shift. Each runs with the search for races on.
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/gpu_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// across = x[y, x-1] + x[y, x] + x[y, x+1]; out = across[y-1, x] + across[y, x] + across[y+1, x]
struct Box {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Tensor in = lang::make_input("in", i32, {H, W}), out = lang::make_output("out", i32, {H, W});
  Tensor wide = boundary::repeat(in);
  Tensor across = compute("across", [&](Var y, Var x) { return wide(y, x - 1) + wide(y, x) + wide(y, x + 1); });
  Tensor result =
      compute("result", {H, W}, [&](Var y, Var x) { return across(y - 1, x) + across(y, x) * 2 + across(y + 1, x); });
  lang::Built built = (lang::bind(out, result), lang::build_program("box", {in, out}));
  Schedule s;
  explicit Box(const char* target = "vulkan") : s(built, Target::parse(target)) {}

  Tiles blocks(int rows) {  // of rows x 32 elements
    auto [y, x] = s[result].spatial<2>();
    const Tiles t = s[result].tile(y, x, rows, 32);
    s[result].bind(t.outer_i, gpu::block_y).bind(t.outer_j, gpu::block_x);
    return t;
  }
  // Blocks of rows x 32 threads, an element each.
  Tiles tiled(int rows) {
    const Tiles t = blocks(rows);
    s[result].bind(t.inner_i, gpu::thread_y).bind(t.inner_j, gpu::thread_x);
    return t;
  }
  void fill_by_all_threads() {
    auto [u, v] = s[across].spatial<2>();
    s[across].bind(s[across].fuse(u, v), gpu::threads);
  }

  void check(std::size_t barriers) const {
    const ir::Kernel k = handmade::launched(s);
    const std::string text = ir::text(k);
    CAPTURE(text);
    CHECK(handmade::barriers(k) == barriers);
    for (const auto& [h, w] : {std::pair{8, 32}, {9, 33}, {1, 1}, {17, 5}, {3, 70}}) {
      CAPTURE(h);
      CAPTURE(w);
      interp::Arguments expected = handmade::arguments_for(built.program, {{"H", h}, {"W", w}}), actual = expected;
      interp::run_algorithm(built.program, expected);
      interp::Options options;
      options.races = true;
      REQUIRE_NOTHROW(interp::run(k, actual, options));
      CHECK(interp::difference(actual[1].array, expected[1].array) == "");
    }
  }
};

}  // namespace

TEST_CASE("a halo in shared memory, filled by all threads") {
  Box b;
  const Tiles t = b.tiled(8);
  b.s[b.across].compute_at(t.outer_j).store_in(Scope::shared);
  b.fill_by_all_threads();
  b.check(1);
}

TEST_CASE("a halo that one thread fills") {
  Box b;
  const Tiles t = b.tiled(8);
  b.s[b.across].compute_at(t.outer_j).store_in(Scope::shared);
  b.check(1);
}

TEST_CASE("threads of a smaller shape than the block") {
  Box b;
  const Tiles t = b.tiled(8);
  b.s[b.across].compute_at(t.outer_j).store_in(Scope::shared);
  auto [u, v] = b.s[b.across].spatial<2>();
  auto [vo, vi] = b.s[b.across].split(v, 16);
  b.s[b.across].bind(vi, gpu::thread_x);
  b.check(1);
}

TEST_CASE("a tile computed inside the threads, for the block as a whole") {
  Box b;
  const Tiles t = b.blocks(8);
  auto [ys, yt] = b.s[b.result].split(t.inner_i, 2);
  b.s[b.result].reorder(t.outer_i, t.outer_j, yt, t.inner_j, ys);
  b.s[b.result].bind(yt, gpu::thread_y).bind(t.inner_j, gpu::thread_x);
  b.s[b.across].compute_at(ys).store_in(Scope::shared);
  b.fill_by_all_threads();
  b.check(2);
}

TEST_CASE("a ring in shared memory that slides with a loop, each thread in its own column") {
  Box b;
  const Tiles t = b.blocks(8);
  b.s[b.result].bind(t.inner_j, gpu::thread_x).tighten(t.inner_i);
  b.s[b.across].compute_at(t.inner_i).store_in(Scope::shared).store_at(t.outer_j).slide(t.inner_i).fold(0, 4);
  auto [u, v] = b.s[b.across].spatial<2>();
  b.s[b.across].bind(v, gpu::thread_x);
  b.check(0);
}

TEST_CASE("each thread has its own") {
  Box b;
  const Tiles t = b.tiled(4);
  b.s[b.across].compute_at(t.inner_j).store_in(Scope::stack);
  b.check(0);
}

TEST_CASE("warps of lanes, each with columns of its own") {
  Box b("cuda-sm_80");
  auto [y, x] = b.s[b.result].spatial<2>();
  auto [xo, x1] = b.s[b.result].split(x, 64);
  auto [xw, xl] = b.s[b.result].split(x1, 32);
  b.s[b.result].bind(y, gpu::block_y).bind(xo, gpu::block_x).bind(xw, gpu::warp).bind(xl, gpu::lane);
  b.s[b.across].compute_at(xo).store_in(Scope::shared);
  auto [u, v] = b.s[b.across].spatial<2>();
  auto [vw, vl] = b.s[b.across].split(v, 32);
  b.s[b.across].bind(vw, gpu::warp).bind(vl, gpu::lane);
  b.check(0);
}

TEST_CASE("a thread stores vectors") {
  Box b;
  auto [y, x] = b.s[b.result].spatial<2>();
  auto [xo, x1] = b.s[b.result].split(x, 64);
  auto [xt, xv] = b.s[b.result].split(x1, 4);
  b.s[b.result].bind(y, gpu::block_y).bind(xo, gpu::block_x).bind(xt, gpu::thread_x).vectorize(xv);
  b.s[b.across].compute_at(xo).store_in(Scope::shared);
  auto [u, v] = b.s[b.across].spatial<2>();
  b.s[b.across].bind(v, gpu::threads);
  b.check(1);
}

TEST_CASE("a filter on threads needs no barrier between the start of a sum and its steps (fuzz seed 102843)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N, 2});
  Axis k{"k", N};
  Tensor total = compute("total", {N, 2}, [&](Var i, Var j) { return sum(x(k) + f32(j), k.where(k <= i)); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("triangle", {x, y});
  Schedule s(built, Target::parse("vulkan"));
  auto [i, j] = s[total].spatial<2>();
  auto [io, ii] = s[total].split(i, 32);
  s[total].bind(io, gpu::block_x).bind(ii, gpu::thread_x).vectorize(j);
  CHECK(handmade::barriers(handmade::launched(s)) == 0);
  handmade::same_on_device(built.program, s, {{{"N", 40}}, {{"N", 1}}, {{"N", 0}}});
}

TEST_CASE("the extent of a loop over threads that blocks bound (fuzz seed 131425)") {
  // the box of `part` over the columns is max(i, j) - min(i, j) + 1 wide: M, at most 2, bounds it by way of the block's
  // variable
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 0, .max = 2}};
  Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {M, M});
  Tensor part = compute("part", {M}, [&](Var i) { return x(i) * 2.0f; });
  lang::bind(y, compute("y", {M, M}, [&](Var i, Var j) { return part(i) + part(j); }));
  const lang::Built built = lang::build_program("pairs", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  auto [i, j] = s[y].spatial<2>();
  s[y].bind(i, gpu::block_x);
  s[part].compute_at(j).store_in(Scope::shared).bind(s[part].spatial<1>()[0], gpu::lane);
  handmade::same_on_device(built.program, s, {{{"M", 2}}, {{"M", 1}}, {{"M", 0}}});
}

TEST_CASE("the steps of a reduction that was peeled need no barrier between them (fuzz seed 715347)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {2, N}), y = lang::make_output("y", f32, {2, N});
  Axis k{"k", N};
  Tensor total = compute("total", {2, N}, [&](Var i, Var j) { return sum(x(i, k) + f32(j), k); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("peeled", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  auto [i, j] = s[total].spatial<2>();
  s[total].peel(s[total].reduction(), Peel::first);
  s[total].bind(i, gpu::warp);
  CHECK(handmade::barriers(handmade::launched(s)) == 0);
  handmade::same_on_device(built.program, s, {{{"N", 5}}, {{"N", 1}}, {{"N", 0}}});
}

TEST_CASE("a loop that a loop over threads bounds runs in threads that have an iteration (fuzz seed 904670)") {
  // the box of `near` is max(i + 1, 3) wide, at most 4 for the four lanes that compute; the other 28 of the warp have no box
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {4});
  Tensor wide = boundary::constant(x, 0.0f);
  Tensor near = compute("near", [&](Var i) { return wide(i) * 2.0f; });
  lang::bind(y, compute("y", {4}, [&](Var i) { return near(i % 3 - 2) + near(i - 2); }));
  const lang::Built built = lang::build_program("boxes", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  auto i = s[y].spatial<1>()[0];
  s[y].bind(i, gpu::lane);
  s[near].compute_at(i).store_in(Scope::stack);
  handmade::same_on_device(built.program, s, {{{"N", 3}}, {{"N", 1}}, {{"N", 0}}});
}

TEST_CASE("bounds that memory holds are read in threads that have an iteration (fuzz seed 426159 for cuda-sm_80)") {
  lang::DefinitionScope scope;
  Tensor first = lang::make_input("first", u8, {}), x = lang::make_input("x", i32, {1}), y = lang::make_output("y", i32, {});
  Axis k{"k", clamp(i32(first()), 0, 1), 1},
      l{"l", clamp(x(k), 0, 1), 1};  // the first byte is 3: no k, so that x[1] is not read
  Tensor total = compute("total", [&] { return sum(1, {k, l}); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("bounds", {first, x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  s[total].atomic().bind(s[total].loop(k), gpu::thread_x);
  handmade::same_on_device(built.program, s, {{}});
}

TEST_CASE("lanes of a reduction that was peeled need no barrier between its steps (fuzz seed 1050790)") {
  for (const char* target : {"cuda-sm_80", "vulkan"})
    for (const Peel end : {Peel::first, Peel::last}) {
      lang::DefinitionScope scope;
      Tensor x = lang::make_input("x", f32, {2}), y = lang::make_output("y", f32, {6, 2, 4});
      Axis k{"k", -2, 2}, l{"l", 0, 3};
      Tensor total = compute("total", {6, 2, 4}, [&](Var a, Var b, Var c) {
        return sum(x(b) + f32(c) + f32(l), AxisList{k, l}.where(k <= a + 1)).from(4.0f);
      });
      lang::bind(y, total);
      const lang::Built built = lang::build_program("peeled", {x, y});
      Schedule s(built, Target::parse(target));
      auto [a, b, c] = s[total].spatial<3>();
      s[total].peel(s[total].reduction<2>()[0], end);
      s[total].bind(a, gpu::block_x).bind(b, gpu::thread_x).vectorize(c);
      CHECK(handmade::barriers(handmade::launched(s)) == 0);
      handmade::same_on_device(built.program, s, {{}});
    }
}

TEST_CASE("storage folded to as many rows as there are is no ring (fuzz seed 9028268)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {2, N + 1}), y = lang::make_output("y", f32, {2, N + 1});
  Tensor total = compute("total", {2, N + 1}, [&](Var i, Var j) {
    Axis k{"k", 0, i + 1};
    return sum(x(i, j) + f32(k), k);
  });
  lang::bind(y, compute("y", {2, N + 1}, [&](Var i, Var j) { return total(i, j); }));
  const lang::Built built = lang::build_program("rows", {x, y});
  Schedule s(built, Target::parse("vulkan"));
  s[total].bind(s[total].spatial<2>()[0], gpu::thread_x).fold(0, 2);
  s[y].bind(s[y].spatial<2>()[0], gpu::block_x);
  CHECK(handmade::barriers(handmade::launched(s)) == 0);
  handmade::same_on_device(built.program, s, {{{"N", 4}}, {{"N", 0}}});
}

TEST_CASE("puts that threads do meet in one element in different steps (fuzz seed 41015440)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 3}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor total = scatter("total", {N}, Combine::add, 0.0f, {N},
                               [&](Var p) { return puts(put(x(p), p), put_if(p >= 2, x(p) * 2.0f, p - 2)); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("puts", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  s[total].bind(s[total].reduction<2>()[1], gpu::thread_x);
  const ir::Kernel k = handmade::launched(s);
  CHECK(handmade::barriers(k) + handmade::barriers(k, ir::Sync::Kind::warp) > 0);
  handmade::same_on_device(built.program, s, {{{"N", 5}}, {{"N", 3}}});
}

TEST_CASE("a step of a scatter is its thread's, though it does not use the thread (fuzz seed 41022681)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor y = lang::make_output("y", f32, {N});
  const Tensor total =
      scatter("total", {N}, Combine::add, 0.0f, {2}, [&](Var p) { return put_if(p - 1 >= 0 && p - 1 < N, 4.0f, p - 1); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("steps", {y});
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    Schedule s(built, Target::parse(target));
    s[total].bind(s[total].reduction(), gpu::thread_x);
    handmade::same_on_device(built.program, s, {{{"N", 1}}, {{"N", 4}}, {{"N", 0}}});
  }
}
