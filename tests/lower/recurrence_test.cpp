// Recurrences under schedules: the scheduled program and its kernel compute what the definition says.
#include "check.h"

#include <ashlar/schedule/step.h>

#include "launched.h"
#include "tests/support/recurrence_gpu_operators.h"
#include "tests/support/recurrence_schedules.h"

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
  }
}
