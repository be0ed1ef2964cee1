// What programs of many stages cost to schedule by default and to lower, in counts: ten times the stages are at most fifteen
// times the work. And what a step leaves is what deriving all of it anew gives.
#include "tests/support/growth_chains.h"

#include <ashlar/ir/print.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>
#include <doctest/doctest.h>

#include <string>
#include <thread>

#include <ashlar/ir/work.h>
#include "schedule/primitives/primitives.h"

using namespace ashlar;

namespace {

struct Cost {
  std::uint64_t walked, simplified, proofs, sets, steps;
};

// In a thread of its own, which remembers no answers to the questions of programs before.
template <class O>
Cost cost(int n) {
  Cost c{};
  std::thread([&] {
    O o(n);
    Schedule s(o.build(), Target::parse("x86-64-v3"));
    schedule_by_default(s);
    const ir::Kernel kernel = lower(s.scheduled().program, options_for(s.target()));
    const ir::Work& w = ir::work;  // of this thread: it began at 0
    c = {w.walked, w.simplified, w.proofs, w.sets, s.scheduled().trace.size()};
  }).join();
  return c;
}

template <class O>
void ten_times(int n, std::uint64_t most = 15) {
  const Cost one = cost<O>(n), ten = cost<O>(10 * n);
  const auto grows = [most](const std::string& what, std::uint64_t small, std::uint64_t large) {
    CAPTURE(what);
    CAPTURE(small);
    CAPTURE(large);
    CHECK(large <= most * small + 64);
  };
  grows("nodes walked", one.walked, ten.walked);
  grows("nodes simplified", one.simplified, ten.simplified);
  grows("proofs", one.proofs, ten.proofs);
  grows("questions to integer sets", one.sets, ten.sets);
  CHECK(ten.steps >= 5 * one.steps);
}

// Step by step: the boxes that a step kept are those that are derived anew, and the obligations that stood are proved anew.
template <class O>
void kept_is_true(int n, const char* name) {
  O o(n);
  const lang::Built built = o.build();
  const Target target = Target::parse(name);
  Schedule s(built, target);
  const schedule::Scheduled fresh{s.scheduled().program, {}, {}, {}};
  schedule_by_default(s);
  schedule::Scheduled state = fresh;
  for (const schedule::Step& done : s.scheduled().trace) {
    schedule::Step step = done;
    step.results.clear(), step.text.clear();
    CAPTURE(done.text);
    schedule::apply(state, step, target);
    ir::Program anew = state.program;
    analysis::derive_regions(anew);
    REQUIRE(ir::text(anew) == ir::text(state.program));
    schedule::Context c{state, state.program, target, step, {}};
    REQUIRE_NOTHROW(schedule::recheck(c, nullptr));
  }
  CHECK(ir::text(state.program) == s.text());  // with those that were inlined together
}

template <class O>
void kept_is_true(int n) {
  kept_is_true<O>(n, "x86-64-v3");
  kept_is_true<O>(n, "aarch64+sve");
}

}  // namespace

TEST_CASE("a chain of 100 and 1000 stages that are inlined") { ten_times<growth::Chain>(100); }
TEST_CASE("10 and 100 stages that are stored, each with loops of its own") { ten_times<growth::Stored>(10); }
TEST_CASE("10 and 100 results of one input") { ten_times<growth::Outputs>(10); }
TEST_CASE("10 and 100 recurrences, one behind the other") { ten_times<growth::Filters>(10); }
TEST_CASE("10 and 100 sums of rows, each of what the one before made of them") { ten_times<growth::Rows>(10, 18); }
TEST_CASE("20 and 200 windows of windows") { ten_times<growth::Windows>(20); }

TEST_CASE("what a step keeps is what there would be anew") {
  kept_is_true<growth::Chain>(6);
  kept_is_true<growth::Stored>(4);
  kept_is_true<growth::Outputs>(3);
  kept_is_true<growth::Filters>(4);
  kept_is_true<growth::Windows>(7);
  kept_is_true<growth::Rows>(4);
}

TEST_CASE("stages that are inlined together have the trace that they have one by one") {
  growth::Chain o(5);
  const lang::Built built = o.build();
  const Target target = Target::parse("x86-64-v3");
  Schedule together(built, target), apart(built, target);
  const Where here = Where::current();
  const auto choices = schedule_by_default(together, {}, here);
  const auto ignore = [](void*, const std::string&, const std::string&) {};
  apart.observe(ignore, nullptr);  // who watches sees every step
  CHECK(schedule_by_default(apart, {}, here).text() == choices.text());
  CHECK(together.trace() == apart.trace());
  CHECK(together.text() == apart.text());
  CHECK(together.json() == apart.json());
}
