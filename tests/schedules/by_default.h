#pragma once
// Programs that are scheduled by default: what was chosen for each stage, and the results beside those of the algorithm.
//
//   const Scheduled s({x}, {y});                // inputs, results
//   CHECK(s.has("y", "vectors of 16 along j"));
//   s.same({{5, 33}, {5, 33}});                 // shapes of the arguments
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

namespace by_default_test {

using namespace ashlar;
using schedules::Choice;
using schedules::Choices;
using schedules::Family;

struct Scheduled {
  ScheduledByDefault by;
  Scheduled(const std::vector<Tensor>& inputs, const std::vector<Tensor>& results, const schedules::DefaultOptions& o = {},
            const char* target = "x86-64-v4")
      : by(schedule_by_default(built(inputs, results), Target::parse(target), o)) {}
  const Choice& of(const std::string& stage) const {
    const Choice* c = by.choices.find(stage);
    CAPTURE(by.choices.text());
    REQUIRE(c);
    return *c;
  }
  bool has(const std::string& stage, const std::string& done) const {
    for (const std::string& text : of(stage).done)
      if (text.find(done) != std::string::npos) return true;
    INFO(by.choices.text());
    return false;
  }
  std::string text() const { return by.schedule.text(); }
  // With the algorithm's results, element for element: sums of small whole numbers are exact, however they are grouped.
  void same(const std::vector<std::vector<std::int64_t>>& shapes) const {
    const ir::Program& p = by.schedule.scheduled().program;
    interp::Arguments given;
    std::uint64_t seed = 1;
    for (std::size_t k = 0; k < p.arguments.size(); ++k) {
      const ir::Buffer& b = p.buffer(p.arguments[k].id);
      if (p.arguments[k].kind == ir::ArgumentKind::input)
        given.emplace_back(interp::Array::make(b.type, shapes[k], [&](auto) {
          seed = seed * 6364136223846793005u + 1442695040888963407u;
          return static_cast<double>(seed >> 60);
        }));
      else
        given.emplace_back(interp::Array::zeros(b.type, shapes[k]));
    }
    interp::Arguments meant = given;
    interp::run_algorithm(by.schedule.algorithm(), meant);
    interp::run(p, given);
    for (std::size_t k = 0; k < given.size(); ++k) CHECK(interp::difference(given[k].array, meant[k].array) == "");
    const Target& target = by.schedule.target();
    if (!target.is_gpu()) return;
    for (std::size_t k = 0; k < p.arguments.size(); ++k)
      if (p.arguments[k].kind != ir::ArgumentKind::input) given[k] = interp::Array::zeros(given[k].array.type, shapes[k]);
    schedule::finish(by.schedule.scheduled(), target);
    interp::run(lower(p, options_for(target)), given, {.races = true});
    for (std::size_t k = 0; k < given.size(); ++k) CHECK(interp::difference(given[k].array, meant[k].array) == "");
  }

 private:
  static lang::Built built(const std::vector<Tensor>& inputs, const std::vector<Tensor>& results) {
    std::vector<lang::ArgumentRef> arguments(inputs.begin(), inputs.end());
    static const char* const names[] = {"out", "out1", "out2", "out3"};
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Tensor out = lang::make_output(names[k], results[k].type(), results[k].shape().extents());
      lang::bind(out, results[k]);
      arguments.emplace_back(out);
    }
    return lang::build_program("f", arguments);
  }
};

inline std::string kernel_of(const Scheduled& s) {
  return ir::text(lower(s.by.schedule.scheduled().program, options_for(s.by.schedule.target())));
}

inline Tensor input(const char* name, Type type, const std::vector<Extent>& shape) {
  return lang::make_input(name, type, shape);
}

}  // namespace by_default_test
