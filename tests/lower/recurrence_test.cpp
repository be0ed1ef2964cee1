// Recurrences under schedules: the scheduled program and its kernel compute what the definition says.
#include "check.h"

#include <ashlar/schedule/step.h>

#include "launched.h"
#include "tests/support/recurrence_gpu_operators.h"
#include "tests/support/recurrence_schedules.h"
#include "tests/support/refused.h"

using namespace ashlar;

TEST_CASE("a scheduled recurrence is the recurrence, as a tree and as a kernel") {
  recurrences::each_scheduling([](const recurrences::Operator& o, const recurrences::Scheduling& how) {
    const std::string name = std::string(o.name) + ": " + how.what;
    CAPTURE(name);
    recurrences::Made made(o, how.apart);
    Schedule s(made.built, Target::parse("x86-64-v3"));
    REQUIRE_NOTHROW(how.schedule(s, made));
    schedule::finish(s.scheduled(), s.target());
    const ir::Program& p = s.scheduled().program;
    const ir::Kernel k = lower(p, handmade::options_for(s.target()));
    for (const auto& [R, T] : recurrences::shapes()) {
      const handmade::Sizes shape{{"R", R}, {"T", T}};
      handmade::check_kernel(p, k, {shape});
      interp::Arguments expected = handmade::arguments_for(p, shape), found = expected;
      interp::run_algorithm(made.built.program, expected);
      interp::run(p, found, {interp::Options::Order::shuffled, 3});
      for (std::size_t n = 1; n < expected.size(); ++n) CHECK(interp::difference(found[n].array, expected[n].array) == "");
    }
  });
}

TEST_CASE("the kernel of rows in lanes") {
  recurrences::Made made(recurrences::named("smooth"));
  Schedule s(made.built, Target::parse("x86-64-v3"));
  auto [r, t] = s[made.state[0]].spatial<2>();
  auto [ro, ri] = s[made.state[0]].split(r, 8);
  s[made.state[0]].reorder(ro, t, ri).vectorize(ri);
  handmade::golden("recurrence_rows", ir::text(lower(s.scheduled().program, handmade::options_for(s.target()))));
}

TEST_CASE("rows are threads, each with its own steps") {
  const std::vector<handmade::Sizes> shapes{{{"R", 33}, {"T", 17}}, {{"R", 1}, {"T", 1}}, {{"R", 5}, {"T", 0}}};
  const auto same = [&](auto& op) { handmade::same_on_device(op.built.program, op.s, shapes); };
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    for (const char* name : recurrences::with_independent_rows()) {
      gpu_operators::Rows op(Target::parse(target), name);
      same(op);
    }
    gpu_operators::Columns columns{Target::parse(target)};
    same(columns);
    gpu_operators::TwoLaunches row{Target::parse(target)};
    same(row);
    gpu_operators::SharedRows shared{Target::parse(target)};
    same(shared);
    gpu_operators::ScanInBlocks blocks{Target::parse(target)};
    same(blocks);
  }
}

TEST_CASE("threads that each keep to their row meet nobody (fuzz seeds 41024538, 41019730)") {
  // Rows of an output have strides of the caller's, rows of a stage are as long as a symbol says; a step reads the element
  // above its own, or one of the element above's neighbors that belongs to the same thread.
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    for (const bool kept : {false, true}) {
      lang::DefinitionScope scope;
      Symbol N{"N"}, W{"W", {.max = 64}};
      const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N, W, 2});
      Tensor state = recur(
          "state", {N, W, 2}, Along{0}, Lag{1}, [&](Var i, Var, Var) { return x(i); },
          [&](Prior s, Var i, Var j, Var h) { return x(i) - s(i - 1, j, h) + select(h < 1, s(i - 1, j, h + 1), 1.0f); });
      Tensor result = kept ? compute("result", {N, W, 2}, [&](Var i, Var j, Var h) { return state(i, j, h) * 2.0f; }) : state;
      lang::bind(y, result);
      const lang::Built built = lang::build_program("rows", {x, y});
      Schedule s(built, Target::parse(target));
      auto [i, j, h] = s[state].spatial<3>();
      s[state].vectorize(h).bind(j, gpu::thread_x);
      if (kept) s[result].bind(s[result].spatial<3>()[0], gpu::block_x);
      const ir::Kernel k = handmade::launched(s);
      const std::string text = ir::text(k);
      CAPTURE(text);
      CHECK(handmade::barriers(k) + handmade::barriers(k, ir::Sync::Kind::warp) == 0);
      handmade::same_on_device(built.program, s, {{{"N", 3}, {"W", 5}}, {{"N", 1}, {"W", 64}}, {{"N", 0}, {"W", 2}}});
    }
  }
}

TEST_CASE("threads of a block read what others stored in the step before") {
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    for (const int slots : {2, 3}) {
      lang::DefinitionScope scope;
      Symbol R{"R"}, T{"T", {.min = 1}};
      const Tensor x = lang::make_input("x", f32, {R, 100}), w = lang::make_input("w", f32, {T}),
                   y = lang::make_output("y", f32, {R, 100});
      // Heat along a row: each step reads both neighbors.
      const Tensor heat = recur(
          "heat", {T, R, 100}, Along{0}, Lag{1}, [&](Var, Var r, Var i) { return x(r, i); },
          [&](Prior h, Var t, Var r, Var i) {
            return 0.25f * h(t - 1, r, max(i - 1, 0)) + w(t) * h(t - 1, r, i) + 0.25f * h(t - 1, r, min(i + 1, 99));
          });
      const Tensor last = compute("last", {R, 100}, [&](Var r, Var i) { return heat(T - 1, r, i); });
      lang::bind(y, last);
      const lang::Built built = lang::build_program("diffusion", {x, w, y});
      Schedule s(built, Target::parse(target));
      auto [r, i] = s[last].spatial<2>();
      s[last].bind(r, gpu::block_x).bind(s[last].split(i, 64).inner, gpu::thread_x);
      s[heat].compute_at(r).fold(0, slots).store_in(Scope::shared);
      auto [t, row, point] = s[heat].spatial<3>();
      s[heat].bind(s[heat].split(point, 64).inner, gpu::thread_x);
      const ir::Kernel k = handmade::launched(s);
      const std::string text = ir::text(k);
      CAPTURE(text);
      CHECK(handmade::barriers(k) == 1);  // one a step; of the last step each thread reads its own points
      handmade::same_on_device(built.program, s, {{{"R", 3}, {"T", 6}}, {{"R", 1}, {"T", 1}}, {{"R", 0}, {"T", 2}}});
    }
  }
}

TEST_CASE("what other blocks or private memory hold is not waited for") {
  lang::DefinitionScope scope;
  Symbol T{"T", {.min = 1}}, N{"N", {.min = 1}};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {T, N});
  const Tensor heat = recur(
      "heat", {T, N}, Along{0}, Lag{1}, [&](Var, Var i) { return x(i); },
      [&](Prior h, Var t, Var i) { return 0.5f * h(t - 1, max(i - 1, 0)) + 0.5f * h(t - 1, i); });
  lang::bind(y, heat);
  const lang::Built built = lang::build_program("diffusion", {x, y});
  const Target target = Target::parse("cuda-sm_80");
  {
    Schedule s(built, target);
    auto [t, i] = s[heat].spatial<2>();
    CHECK(refused([&] { s[heat].bind(i, gpu::block_x); }).find("nothing but blocks around a block") != std::string::npos);
  }
  {  // nor are threads outside of the steps, or steps in threads
    Schedule s(built, target);
    auto [t, i] = s[heat].spatial<2>();
    CHECK(refused([&] { s[heat].bind(t, gpu::thread_x); }).find("iterations are independent") != std::string::npos);
    s[heat].reorder(i, t);
    CHECK(refused([&] { s[heat].bind(i, gpu::thread_x); }).find("iterations are independent") != std::string::npos);
    s[heat].reorder(t, i);
    CHECK(
        refused([&] { s[heat].bind(i, gpu::thread_x).store_in(Scope::registers); })
            .ends_with(": store_in: expected a stage with storage of its own (cache_write gives an output one), found heat, an "
                       "output"));
  }
  {
    Schedule s(built, target);
    auto [t, i] = s[heat].spatial<2>();
    s[heat].bind(s[heat].split(i, 64).inner, gpu::thread_x);
    const ir::Kernel k = handmade::launched(s);
    const std::string text = ir::text(k);
    CAPTURE(text);
    CHECK(handmade::barriers(k) == 1);  // in global memory, which the threads of a block share
    handmade::same_on_device(built.program, s, {{{"N", 150}, {"T", 5}}, {{"N", 1}, {"T", 1}}, {{"N", 64}, {"T", 2}}});
  }
}
