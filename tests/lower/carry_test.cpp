// What recurrences keep in registers from step to step, in the text of the kernel.
#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/support/text_parts.h"

namespace ashlar::test {
namespace {

using text_parts::count;

struct Filter {
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  Tensor x = lang::make_input("x", f32, {R, T}), out = lang::make_output("y", f32, {R, T}), y;
  lang::Built built;
  explicit Filter(int lag, bool backwards = false)
      : y(made(lag, backwards)), built((lang::bind(out, y), lang::build_program("filter", {x, out}))) {}
  Tensor made(int lag, bool backwards) {
    const int step = backwards ? -1 : 1;
    return recur(
        "y", {R, T}, backwards ? Along{1}.backwards() : Along{1}, Lag{lag}, [&](Var r, Var t) { return x(r, t); },
        [&](Prior p, Var r, Var t) {
          Expr sum = x(r, t);
          for (int k = 1; k <= lag; ++k) sum = sum + p(r, t - k * step) * 0.5f;
          return sum;
        });
  }
  static std::string text(Schedule& s) {
    schedule::finish(s.scheduled(), s.target());
    return ir::text(lower(s.scheduled().program));
  }
};

}  // namespace

TEST_CASE("what a step reads of steps before stays in registers") {
  Filter f(2);
  Schedule s(f.built, Target::parse("x86-64-v3"));
  const std::string text = Filter::text(s);
  CAPTURE(text);
  CHECK(count(text, "for i1 in [0, +min(T, 2))") == 1);  // the first lambda's steps, on their own
  CHECK(count(text, "for i1 in [2, +T - 2)") == 1);
  CHECK(count(text, "= y[") == 0);  // none is read again
  CHECK(count(text, "select") == 0);
  CHECK(text.find("y_carried[0] = x[R") == text.npos);
  CHECK(count(text, "y_carried[1] * 0.5") + count(text, "0.5 * y_carried[1]") == 1);
  CHECK(count(text, "y_carried[2] * 0.5") + count(text, "0.5 * y_carried[2]") == 1);
}

TEST_CASE("backwards, the same") {
  Filter f(1, true);
  Schedule s(f.built, Target::parse("x86-64-v3"));
  const std::string text = Filter::text(s);
  CAPTURE(text);
  CHECK(count(text, "= y[") == 0);
  CHECK(count(text, "select") == 0);
}

TEST_CASE("a part of a loop begins with what the part before stored") {
  Filter f(1);
  Schedule s(f.built, Target::parse("x86-64-v3"));
  s[f.y].peel(s[f.y].spatial<2>()[1], Peel::first);
  const std::string text = Filter::text(s);
  CAPTURE(text);
  CHECK(count(text, "y_carried[0] = y[") == 1);  // before the loop
  CHECK(count(text, "y[") == 3);                 // and two stores
}

TEST_CASE("rows side by side have registers each, in lanes or unrolled") {
  for (const bool lanes : {false, true}) {
    Filter f(1);
    Schedule s(f.built, Target::parse("x86-64-v3"));
    auto [r, t] = s[f.y].spatial<2>();
    auto [ro, ri] = s[f.y].split(r, 4, Tail::peel);
    s[f.y].reorder(ro, t, ri);
    if (lanes)
      s[f.y].vectorize(ri);
    else
      s[f.y].unroll(ri);
    const std::string text = Filter::text(s);
    CAPTURE(text);
    if (lanes)
      CHECK(count(text, "ramp4(4, 1)") >= 1);
    else
      CHECK(count(text, "registers y_carried") == 5);  // and those of the rows that are left
  }
}

TEST_CASE("steps of a ring are told apart by their remainders") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T", {.min = 1}};
  const Tensor x = lang::make_input("x", f32, {R, T}), out = lang::make_output("out", f32, {R});
  const Tensor y = recur(
      "y", {R, T}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
      [&](Prior p, Var r, Var t) { return p(r, t - 1) * 0.5f + x(r, t); });
  lang::bind(out, compute("last", {R}, [&](Var r) { return y(r, T - 1); }));
  Schedule s(lang::build_program("ring", {x, out}), Target::parse("x86-64-v3"));
  s[y].fold(1, 2);
  auto [r, t] = s[y].spatial<2>();
  auto [ro, ri] = s[y].split(r, 4, Tail::peel);
  s[y].reorder(ro, t, ri).unroll(ri);
  const std::string text = Filter::text(s);
  CAPTURE(text);
  CHECK(count(text, "registers y_carried") == 5);
  CHECK(count(text, "* 0.5") + count(text, "0.5 *") == 5);
  CHECK(count(text, "= y[") == 1);  // by the reader alone
}

TEST_CASE("the first steps have a loop of their own where points of a step are inside") {
  for (const bool lanes : {false, true}) {
    lang::DefinitionScope scope;
    const Symbol T{"T"}, R{"R"};
    const Tensor x = lang::make_input("x", f32, {T, R}), out = lang::make_output("out", f32, {T, R});
    const Tensor y = recur(
        "y", {T, R}, Along{0}, Lag{2}, [&](Var t, Var r) { return x(t, r); },
        [&](Prior p, Var t, Var r) { return p(t - 1, r) * 0.5f + p(t - 2, r) + x(t, r); });
    lang::bind(out, y);
    Schedule s(lang::build_program("columns", {x, out}), Target::parse("x86-64-v3"));
    if (lanes) s[y].vectorize(s[y].spatial<2>()[1], 8);
    const std::string text = Filter::text(s);
    CAPTURE(text);
    CHECK(count(text, "for i0 in [0, +min(T, 2))") == 1);
    CHECK(count(text, lanes ? "for i0 in [min(T, 2), +-min(2 - T, 0))" : "for i0 in [2, +T - 2)") == 1);
    CHECK(count(text, "select") == 0);
    CHECK(count(text, "i0 < 2") == 0);
  }
}

TEST_CASE("storage that lives inside of the loop is not carried") {
  lang::DefinitionScope scope;
  Symbol T{"T"};
  const Tensor x = lang::make_input("x", f32, {T}), out = lang::make_output("out", f32, {T});
  const Tensor y =
      recur("y", {T}, Along{0}, Lag{1}, [&](Var t) { return x(t); }, [&](Prior p, Var t) { return p(t - 1) * 0.5f + x(t); });
  lang::bind(out, compute("out", {T}, [&](Var t) { return y(t) + 1.0f; }));
  Schedule s(lang::build_program("inside", {x, out}), Target::parse("x86-64-v3"));
  s[y].compute_at(s[out].spatial<1>()[0]);
  const std::string text = Filter::text(s);
  CAPTURE(text);  // each iteration of the reader computes all steps anew, and carries among those
  CHECK(count(text, "y_carried[0] = 0.0") == 1);
}

}  // namespace ashlar::test
