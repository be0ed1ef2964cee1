// Every way in which cross_thread_reduce, vthread and pipeline refuse, at the user's line; and what they keep others from.
#include "tests/schedule/on_device.h"
#include "tests/golden.h"
#include "tests/support/gpu_operators.h"

using namespace ashlar;
using test::OnDevice, test::Product, test::outcome, test::Text;

TEST_CASE("cross_thread_reduce is refused at its line") {
  Text add;
  {
    Product p;
    add("a processor", outcome([&] { p.s[p.product].cross_thread_reduce(p.s[p.product].reduction()); }));
  }
  {
    OnDevice p;
    add("a spatial loop", outcome([&] { p.sums().cross_thread_reduce(p.sums().spatial<2>()[0]); }));
    auto [ko, ki] = p.sums().split(p.sums().reduction(), 32);
    add("bound without it", outcome([&, ki = ki] { p.sums().bind(ki, gpu::thread_x); }));
    p.sums().cross_thread_reduce(ki);
    add("twice", outcome([&, ki = ki] { p.sums().cross_thread_reduce(ki); }));
    add("split after it", outcome([&, ki = ki] { p.sums().split(ki, 4); }));
    add("vectorized after it", outcome([&, ki = ki] { p.sums().vectorize(ki); }));
    add("rfactor of another loop after it", outcome([&, ko = ko] { p.sums().rfactor(ko); }));
    add("blocks", outcome([&, ki = ki] { p.sums().bind(ki, gpu::block_x); }));
    add("a spatial loop without a constant extent inside", outcome([&, ko = ko] {
          auto [i, j] = p.sums().spatial<2>();
          p.sums().reorder(i, ko, j);
        }));
    add("many values inside", outcome([&, ko = ko] {
          auto [i, j] = p.sums().spatial<2>();
          auto [jo, ji] = p.sums().split(j, 128);
          p.sums().reorder(i, jo, ko, ji);
        }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    auto [jo, ji] = p.result().split(j, 32);
    p.result().bind(i, gpu::block_x).bind(ji, gpu::thread_y);
    p.sums().compute_at(ji).store_in(Scope::registers);
    auto [ko, ki] = p.sums().split(p.sums().reduction(), 32);
    add("a loop around that not all threads run", outcome([&, ki = ki] { p.sums().cross_thread_reduce(ki); }));
    p.sums().reorder(ko, ki, p.sums().spatial<2>()[0], p.sums().spatial<2>()[1]);
    p.sums().cross_thread_reduce(ki);  // the loops inside it may differ
  }
  {
    lang::DefinitionScope scope;
    Symbol N{"N", {.multiple_of = 32}}, K{"K"};
    Tensor x = lang::make_input("x", f32, {N, K}), y = lang::make_output("y", f32, {N});
    Axis k{"k", K};
    Tensor row = compute("row", [&](Var i) { return sum(x(i, k), k); });
    lang::bind(y, compute("y", {N}, [&](Var i) { return row(i) * 2.0f; }));
    Schedule s(lang::build_program("rows", {x, y}), Target::parse("vulkan"));
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 32, Tail::exact);
    s[y].bind(io, gpu::block_x).bind(ii, gpu::thread_y);
    s[row].compute_at(ii).store_in(Scope::registers);
    auto [ko, ki] = s[row].split(s[row].reduction(), 32);
    s[row].cross_thread_reduce(ki);
    add("not bound", outcome([&] { schedule::finish(s.scheduled(), s.target()); }));
    add("the axis of a loop around",
        outcome([&, ki = ki] { s[row].bind(ki, gpu::thread_y), schedule::finish(s.scheduled(), s.target()); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    auto [jo, ji] = p.result().split(j, 64);
    p.result().tighten(ji);
    auto [jv, jt] = p.result().split(jo, 2);
    p.result().bind(i, gpu::block_x).bind(jt, gpu::thread_y);
    p.sums().compute_at(ji).store_in(Scope::registers);
    add("a loop around that threads run differently", outcome([&] { p.sums().cross_thread_reduce(p.sums().reduction()); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    auto [jo, ji] = p.result().split(j, 64);
    auto [jt, jv] = p.result().split(ji, 2);
    p.result().reorder(i, jo, jv, jt).bind(i, gpu::block_x).bind(jt, gpu::thread_y).vthread(jv);
    p.sums().compute_at(jt).store_in(Scope::registers);
    p.sums().reorder(p.sums().reduction(), p.sums().spatial<2>()[0], p.sums().spatial<2>()[1]);
    add("virtual threads around", outcome([&] { p.sums().cross_thread_reduce(p.sums().reduction()); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    auto [jo, ji] = p.result().split(j, 1024);
    p.result().bind(i, gpu::block_x).bind(ji, gpu::thread_x);
    p.sums().compute_at(jo).store_in(Scope::shared);
    auto [po, pi] = p.sums().split(p.sums().spatial<2>()[1], 1);
    (void)po, (void)pi;
    auto [ko, ki] = p.sums().split(p.sums().reduction(), 1024);
    p.sums().cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    Stage again = p.s.cache_read(p.bias, {p.result()}, Scope::shared);
    again.compute_at(jo).align(0, 6 * 1024);
    again.bind(again.spatial<1>()[0], gpu::threads);
    add("too much shared memory", p.finished());
  }
  {  // strict_sum keeps its order
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {1});
    Axis k{"k", N};
    Tensor total = compute("total", {1}, [&](Var) { return strict_sum(x(k), k); });
    lang::bind(y, total);
    Schedule s(lang::build_program("strict", {x, y}), Target::parse("vulkan"));
    add("a reduction in order", outcome([&] { s[total].cross_thread_reduce(s[total].reduction()); }));
  }
  CHECK(golden("schedule/golden/cross_thread_refusals.txt", add.text) == "");
}

TEST_CASE("vthread is refused at its line") {
  Text add;
  {
    Product p;
    add("a processor", outcome([&] { p.s[p.C].vthread(p.s[p.C].spatial<2>()[0]); }));
  }
  {
    OnDevice p;
    auto [i, j] = p.result().spatial<2>();
    add("no constant extent", outcome([&, j = j] { p.result().vthread(j); }));
    auto [jo, ji] = p.result().split(j, 128);
    add("too many", outcome([&, ji = ji] { p.result().vthread(ji); }));
    add("a reduction", outcome([&] { p.sums().vthread(p.sums().reduction()); }));
    auto [jt, jv] = p.result().split(ji, 2);
    p.result().vthread(jv);
    add("bound already", outcome([&, jv = jv] { p.result().bind(jv, gpu::thread_x); }));
    add("a block inside", outcome([&, i = i, jo = jo, jt = jt, jv = jv] {
          p.result().reorder(jv, i, jo, jt);
          p.result().bind(i, gpu::block_x);
        }));
    p.same();
  }
  CHECK(golden("schedule/golden/vthread_refusals.txt", add.text) == "");
}

TEST_CASE("pipeline is refused at its line") {
  Text add;
  const Target vulkan = Target::parse("vulkan"), cuda = Target::parse("cuda-sm_80");
  auto tiles = [&](OnDevice& p, Scope scope = Scope::shared) {
    auto [i, j] = p.result().spatial<2>();
    auto [io, ii] = p.result().split(i, 16);
    auto [jo, ji] = p.result().split(j, 16);
    p.result().reorder(io, jo, ii, ji).bind(io, gpu::block_y).bind(jo, gpu::block_x);
    p.result().bind(ii, gpu::thread_y).bind(ji, gpu::thread_x);
    p.sums().compute_at(ji).store_in(Scope::registers);
    const auto [ko, ki] = p.sums().split(p.sums().reduction(), 16);
    p.sums().reorder(ko, ki, p.sums().spatial<2>()[0], p.sums().spatial<2>()[1]);
    Stage a = p.s.cache_read(p.A, {p.sums()}, scope);
    a.compute_at(ko);
    return std::pair{ko, a};
  };
  {
    Product p;
    add("a processor", outcome([&] { p.s[p.product].pipeline(p.s[p.product].reduction(), {}); }));
  }
  {
    OnDevice p;
    auto [ko, a] = tiles(p);
    add("one stage", outcome([&, ko = ko, a = a] { p.sums().pipeline(ko, {.stages = 1, .loads = {a}}); }));
    add("no loads", outcome([&, ko = ko] { p.sums().pipeline(ko, {.stages = 2}); }));
    add("a load twice", outcome([&, ko = ko, a = a] { p.sums().pipeline(ko, {.stages = 2, .loads = {a, a}}); }));
    add("no load of this loop", outcome([&, ko = ko] { p.sums().pipeline(ko, {.stages = 2, .loads = {p.sums()}}); }));
    p.sums().pipeline(ko, {.stages = 2, .loads = {a}});
    add("twice", outcome([&, ko = ko, a = a] { p.sums().pipeline(ko, {.stages = 3, .loads = {a}}); }));
    add("split after it", outcome([&, ko = ko] { p.sums().split(ko, 2); }));
    add("moved after it", outcome([&, a = a] { a.compute_at(p.result().nest()[1]); }));
    add("stored elsewhere after it", outcome([&, a = a] { a.store_at(p.result().nest()[1]); }));
    add("another scope after it", outcome([&, a = a] { a.store_in(Scope::registers); }));
    OnDevice other;
    add("a stage of another schedule",
        outcome([&, ko = ko] { p.sums().pipeline(ko, {.stages = 2, .loads = {other.sums()}}); }));
  }
  {
    OnDevice p("cuda-sm_80");
    auto [ko, a] = tiles(p);
    Stage b = p.s.cache_read(p.A, {a}, Scope::shared);
    Loop row = a.spatial<2>()[0];
    b.compute_at(row);
    a.pipeline(row, {.stages = 2, .loads = {b}, .async_copy = true});
    add("asynchronous copies of a load's own",
        outcome([&, ko = ko, a = a] { p.sums().pipeline(ko, {.stages = 2, .loads = {a}}); }));
  }
  {
    OnDevice p;
    auto [ko, a] = tiles(p, Scope::registers);
    add("registers", outcome([&, ko = ko, a = a] { p.sums().pipeline(ko, {.stages = 2, .loads = {a}}); }));
  }
  {
    OnDevice p;
    auto [ko, a] = tiles(p);
    Stage b = p.s.cache_read(a, {p.sums()}, Scope::shared);
    b.compute_at(ko);
    add("a load of what is computed inside", outcome([&, ko = ko] { p.sums().pipeline(ko, {.stages = 2, .loads = {b}}); }));
    p.sums().pipeline(ko, {.stages = 2, .loads = {a}});
    CHECK(outcome([&] { p.same(); }) == "(accepted)");
  }
  {
    OnDevice p;
    auto [ko, a] = tiles(p);
    a.align(1, 768);
    a.bind(a.fuse(a.spatial<2>()[0], a.spatial<2>()[1]), gpu::threads);
    p.sums().pipeline(ko, {.stages = 2, .loads = {a}});
    add("a ring that does not fit", p.finished());
  }
  {  // asynchronous copies
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"};
    Tensor x = lang::make_input("x", f16, {M, N}), y = lang::make_output("y", f32, {M});
    Axis k{"k", N};
    Tensor twice = compute("twice", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
    Tensor total = compute("total", {M}, [&](Var i) { return sum(f32(twice(i, k)), k); });
    lang::bind(y, total);
    Schedule s(lang::build_program("halves", {x, y}), cuda);
    auto [io, ii] = s[total].split(s[total].spatial<1>()[0], 32);
    auto [ko, ki] = s[total].split(s[total].reduction(), 16);
    s[total].reorder(io, ii, ko, ki).bind(io, gpu::block_x).bind(ii, gpu::thread_x);
    s[twice].compute_at(ko).store_in(Scope::shared);
    add("a load that computes",
        outcome([&, ko = ko] { s[total].pipeline(ko, {.stages = 2, .loads = {s[twice]}, .async_copy = true}); }));
    Stage again = s.cache_read(twice, {s[total]}, Scope::shared);
    s[twice].inline_();
    again.compute_at(ko);
    add("a copy of what was taken inline",
        outcome([&, ko = ko] { s[total].pipeline(ko, {.stages = 2, .loads = {again}, .async_copy = true}); }));
    again.inline_();
    Stage filled = s.cache_read(x, {s[total]}, Scope::shared, 1);
    filled.compute_at(ko);
    add("another fill than zero",
        outcome([&, ko = ko] { s[total].pipeline(ko, {.stages = 2, .loads = {filled}, .async_copy = true}); }));
    filled.inline_();
    Stage halves = s.cache_read(x, {s[total]}, Scope::shared);
    halves.compute_at(ko);
    add("two bytes at a time",
        outcome([&, ko = ko] { s[total].pipeline(ko, {.stages = 2, .loads = {halves}, .async_copy = true}); }));
  }
  CHECK(golden("schedule/golden/pipeline_refusals.txt", add.text) == "");
}
