// bind: what it refuses at the call, and what a complete schedule for a device is refused for.
#include <functional>

#include "tests/golden.h"
#include "tests/schedule/on_device.h"
#include "tests/support/gpu_operators.h"

using namespace ashlar;
using test::OnDevice, test::Product, test::outcome;

TEST_CASE("bind is refused at its line") {
  std::string text;
  auto add = [&](const char* what, const std::string& found) { text += std::string(what) + "\n  " + found + "\n"; };
  {
    Product p;
    add("a processor", outcome([&] { p.s[p.C].bind(p.s[p.C].spatial<2>()[0], gpu::block_x); }));
    add("shared memory of a processor", outcome([&] { p.s[p.product].store_in(Scope::shared); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    add("a block inside a serial loop", outcome([&] { p.result().bind(j, gpu::block_x); }));
    p.result().bind(i, gpu::block_x);
    add("bound already", outcome([&] { p.result().bind(i, gpu::block_y); }));
    add("one axis twice", outcome([&] { p.result().bind(j, gpu::block_x); }));
    add("cores inside a launch", outcome([&] { p.result().parallel(j); }));
    p.s[p.product].compute_at(i);
    add("a block inside a launch", outcome([&] { p.s[p.product].bind(p.s[p.product].spatial<2>()[1], gpu::block_y); }));
    add("a reduction", outcome([&] { p.s[p.product].bind(p.s[p.product].reduction(), gpu::thread_x); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    auto [io, ii] = p.result().split(i, 4);
    p.result().unroll(ii);
    add("a thread inside an unrolled loop", outcome([&] { p.result().bind(j, gpu::thread_x); }));
    auto ends = p.result().peel(io);
    add("a peeled loop", outcome([&] { p.result().bind(ends.first, gpu::block_x); }));
    OnDevice q;
    auto [qi, qj] = q.result().spatial<2>();
    q.result().prefetch(qi, q.bias, 1);
    add("a loop with a prefetch", outcome([&, qi = qi] { q.result().bind(qi, gpu::block_x); }));
    OnDevice r;
    auto [ri, rj] = r.s[r.product].spatial<2>();
    r.s[r.product].bind(ri, gpu::block_x).decompose_init(rj);
    add("beside a block", outcome([&, rj = rj] { r.s[r.product].bind(rj, gpu::block_y); }));
    add("no axis", outcome([&] {
          p.s.replay(R"([{"primitive": "bind", "args": [{"loop": 1}, {"word": "thread"}], "place": "made.json:1"}])");
        }));
  }
  CHECK(golden("schedule/golden/bind_refusals.txt", text) == "");
}

TEST_CASE("a schedule for a device is complete, or refused") {
  std::string text;
  auto add = [&](const char* what, const std::string& found) { text += std::string(what) + "\n  " + found + "\n"; };
  {
    OnDevice p;
    add("nothing bound", p.finished());
  }
  auto bound = [](OnDevice& p, int factor) {  // blocks of rows; the columns to split and bind
    auto [i, j] = p.result().spatial<2>();
    p.result().bind(i, gpu::block_x);
    p.s[p.product].compute_at(i).store_in(Scope::registers);
    return p.result().split(j, factor);
  };
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 32);
    p.result().bind(jo, gpu::thread_x);
    add("threads without a constant extent", p.finished());
  }
  {
    OnDevice p("cuda-sm_80");
    auto [jo, ji] = bound(p, 64);
    auto [jw, jl] = p.result().split(ji, 32);
    p.result().bind(jw, gpu::thread_y).bind(jl, gpu::lane);
    add("thread axes and lanes", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 32);
    p.s[p.product].compute_at(jo).bind(p.s[p.product].spatial<2>()[1], gpu::thread_x);
    add("a thread's own memory, of which each computes a part", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 32);
    p.result().bind(ji, gpu::thread_x);
    p.s[p.product].compute_at(ji).store_at(jo);
    CHECK(p.finished() == "(accepted)");  // each thread reads what it has computed
  }
  {
    OnDevice p("cuda-sm_80");
    auto [jo, ji] = bound(p, 64);
    p.result().bind(ji, gpu::lane);
    add("more lanes than a warp has", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 2048);
    p.result().bind(ji, gpu::thread_x);
    add("too many threads", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 32);
    p.result().bind(ji, gpu::thread_x);
    p.s[p.product].store_in(Scope::global);
    add("global memory inside a launch", p.finished());
    p.s[p.product].store_in(Scope::shared);
    add("shared memory of a symbolic size", p.finished());
    p.s[p.product].compute_root();
    add("shared memory outside of a launch", p.finished());
    auto [r, c] = p.s[p.product].spatial<2>();
    p.s[p.product].bind(r, gpu::block_x).store_in(Scope::registers);
    add("registers outside of a launch", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 16384);
    p.s[p.product].compute_at(jo).store_in(Scope::shared);
    p.s[p.product].bind(p.s[p.product].spatial<2>()[1], gpu::threads);
    add("no thread axis", p.finished());
    auto [jt, jv] = p.result().split(ji, 64);
    p.result().bind(jt, gpu::thread_x);
    add("too much shared memory", p.finished());
  }
  {
    OnDevice p;
    auto [jo, ji] = bound(p, 32);
    p.result().bind(ji, gpu::thread_x);
    p.s[p.product].compute_at(ji).store_in(Scope::registers);
    Loop own = p.s[p.product].spatial<2>()[1];
    p.s[p.product].bind(own, gpu::thread_x);
    add("one axis twice, in registers", p.finished());
  }
  CHECK(golden("schedule/golden/launch_refusals.txt", text) == "");
}

TEST_CASE("a tile in shared memory is refused by the table of its target") {
  const auto tile = [](const char* target, int elements) {  // so many products of f32 in the block's memory
    OnDevice p(target);
    auto [i, j] = p.result().spatial<2>();
    p.result().bind(i, gpu::block_x);
    auto [jo, ji] = p.result().split(j, elements);
    p.s[p.product].compute_at(jo).store_in(Scope::shared);
    p.s[p.product].bind(p.s[p.product].spatial<2>()[1], gpu::threads);
    auto [jt, jv] = p.result().split(ji, 64);
    p.result().bind(jt, gpu::thread_x);
    return p.finished();
  };
  const auto outcome = [](const std::string& text, const char* target, int most, int found) {
    const std::string wanted = "store_in: expected at most " + std::to_string(most) + " bytes of shared memory in a block of " +
                               target + ", found " + std::to_string(found) + " with product";
    return text.find(wanted) != std::string::npos;
  };
  CHECK(tile("cuda-sm_80", 163 * 256) == "(accepted)");
  CHECK(outcome(tile("cuda-sm_80", 164 * 256), "cuda-sm_80", 163 << 10, 164 << 10));
  CHECK(outcome(tile("cuda-sm_80", 200 * 256), "cuda-sm_80", 163 << 10, 200 << 10));
  for (const char* target : {"cuda-sm_90a", "cuda-sm_100a"}) {
    CHECK(tile(target, 200 * 256) == "(accepted)");
    CHECK(tile(target, 227 * 256) == "(accepted)");
    CHECK(outcome(tile(target, 228 * 256), target, 227 << 10, 228 << 10));
  }
}

TEST_CASE("bind by warps and lanes means the same") {
  OnDevice p("cuda-sm_80");
  auto [i, j] = p.result().spatial<2>();
  auto [jo, ji] = p.result().split(j, 128);
  auto [jw, jl] = p.result().split(ji, 32);
  p.result().bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(jw, gpu::warp).bind(jl, gpu::lane);
  p.s[p.product].compute_at(jl).store_in(Scope::registers);
  CHECK(p.finished() == "(accepted)");
  p.same(3, 150, 4);
}

TEST_CASE(
    "what a cache with a fill holds for all threads of a fused loop is bounded by what is read at all (fuzz seed 507539)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N, N});
  lang::bind(y, compute("y", {N, N}, [&](Var i, Var) { return x(i) * 2.0f; }));
  const lang::Built built = lang::build_program("rows", {x, y});
  Schedule s{built, Target::parse("vulkan")};
  auto [i, j] = s[y].spatial<2>();
  const Loop all = s[y].fuse(i, j);  // row i is all / N: the rows of all threads together have no bound of their own
  const Stage cache = s.cache_read(x, {s[y]}, Scope::shared, 0.0f);
  s[y].bind(all, gpu::thread_x);
  cache.compute_at(all);
  CHECK_MESSAGE(s.text().find("nest x_cache d0 [0, +N)") != std::string::npos, s.text());
  test::means_the_same(built.program, s, {{4}, {4, 4}});
  test::says(outcome([&] { schedule::finish(s.scheduled(), s.target()); }),
             {"bind: expected a constant extent for i0_i1 of y (split it, and bind the inner loop), found an extent of N * N"});
}

TEST_CASE("a loop cannot be bound to the blocks of a cluster") {
  OnDevice p("cuda-sm_90a");
  const std::string text = outcome([&] { p.result().bind(p.result().spatial<2>()[0], gpu::cluster_x); });
  const char* const expected =
      "bind: expected an axis of the grid or of a block (no launch has clusters yet), found gpu::cluster_x";
  CHECK_MESSAGE(text.find(expected) != std::string::npos, text);
}
