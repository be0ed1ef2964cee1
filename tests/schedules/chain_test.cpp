// Windows of windows by default: all stages slide along the rows of a strip, in rings, whatever is read at their borders.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

struct Seven {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Tensor x = input("x", f32, {H, W});
  std::vector<Tensor> stages;
  // Each of five neighbors of the one before; `repeated`: at the borders of each, or of the input alone.
  explicit Seven(bool repeated) {
    static const char* const names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"};
    for (const char* name : names) {
      const Tensor before = stages.empty() || repeated ? boundary::repeat(stages.empty() ? x : stages.back()) : stages.back();
      const auto value = [&](Var i, Var j) {
        return max(before(i - 1, j) + before(i + 1, j), before(i, j - 1) + before(i, j + 1)) - before(i, j);
      };
      stages.push_back(repeated ? compute(name, {H, W}, value) : compute(name, value));
    }
  }
};

}  // namespace

TEST_CASE("seven windows slide by default, each in a ring") {
  for (const bool repeated : {false, true}) {
    CAPTURE(repeated);
    const Seven p(repeated);
    const Tensor result =
        compute("result", {{"y", p.H}, {"x", p.W}}, [&](Var i, Var j) { return p.stages.back()(i, j) + 1.0f; });
    const Scheduled s({p.x}, {result});
    for (const char* stage : {"first", "second", "third", "fourth", "fifth", "sixth"}) {
      CHECK(s.has(stage, "sliding"));
      CHECK(s.has(stage, "a ring of "));
    }
    for (const std::int64_t h : {1, 7, 150}) s.same({{h, 21}, {h, 21}});
    // each point about once: a strip has a few rows before its own, a tile a few columns
    const ir::Program& program = s.by.schedule.scheduled().program;
    const std::int64_t h = 256, w = 64;
    interp::Arguments args{interp::Array::zeros(f32, {h, w}), interp::Array::zeros(f32, {h, w})};
    const interp::Counters n = interp::run(program, args);
    double points = 0;
    for (const auto& [id, stage] : program.stages)
      points += static_cast<double>(n.evaluations.at(id)) / static_cast<double>(h * w);
    CHECK(points / static_cast<double>(program.stages.size()) < 1.25);
    CHECK(n.peak_bytes < h * w * 4 / 2);  // six rings, less than half a stage
  }
}
