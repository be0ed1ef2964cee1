// Lesson 11: elements computed from earlier ones: recurrences and scans.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("11. Recurrences and scans");
  lesson.say(
      "In a recursive filter, each sample is computed from the previous one. recur takes the dimension along which the\n"
      "recurrence runs, the number of initial elements (Lag), their values, and the step. The step reads earlier elements\n"
      "through y:");
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  Tensor x = lang::make_input("x", f32, {R, T}), out = lang::make_output("out", f32, {R, T});
  lang::bind(out, recur(
                      "y", {{"r", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
                      [&](Prior y, Var r, Var t) { return 0.25f * x(r, t) + 0.75f * y(r, t - 1); }));
  const lang::Built filter = lang::build_program("filter", {x, out});
  Schedule s(filter, Target::parse("x86-64-v3"));
  lesson.definitions(s);
  lesson.say("The loop over time must keep its order, and steps that would change it are refused:");
  auto [r, t] = s[out].spatial<2>();
  lesson.refused(s.attempt([&] { s[out].vectorize(t, 8); }));
  lesson.refused(s.attempt([&] { s[out].reverse(t); }));
  lesson.say(
      "Rows are independent of each other. Eight of them become the lanes of a vector and advance through time together. For\n"
      "that, the loop over rows moves inside. Every step is still computed before the next one:");
  lesson.watch(s);
  auto [strip, lane] = s[out].split(r, 8);
  s[out].reorder(strip, t, lane).vectorize(lane);
  s[out].parallel(strip);

  lesson.say("Two rows, a step up and a step down, give:");
  Schedule here(filter, Target::host());
  here.replay(s.json());
  tutorial::Array<float> in({2, 4}, [](std::int64_t n) { return n == 0 || n > 4 ? 0 : 1; });
  tutorial::Array<float> result({2, 4}, [](std::int64_t) { return -1; });
  if (!tutorial::run(here, in, result)) return 1;
  for (std::int64_t row = 0; row < 2; ++row)
    lesson.show(std::to_string(result(row, 0)) + " " + std::to_string(result(row, 1)) + " " + std::to_string(result(row, 2)) +
                " " + std::to_string(result(row, 3)));

  lesson.say(
      "A running sum is so common that it has a name: scan. In an exclusive scan, element n is the sum of all elements before\n"
      "n; an inclusive scan includes element n. The difference of two elements is the sum over a window:");
  lang::DefinitionScope other;
  Symbol N{"N", {.min = 8}};
  Tensor v = lang::make_input("v", i32, {N}), w = lang::make_output("w", i32, {N - 7});
  const Tensor upto = scan("upto", {N + 1}, Along{0}, Combine::add, [&](Var n) { return v(min(n, N - 1)); }, Scan::exclusive);
  lang::bind(w, compute("window", {{"n", N - 7}}, [&](Var n) { return upto(n + 8) - upto(n); }));
  const lang::Built windows = lang::build_program("windows", {v, w});
  Schedule sums(windows, Target::parse("x86-64-v3"));
  lesson.definitions(sums);
  lesson.watch(sums);
  lesson.say("The scan stays sequential; the windows are independent of each other:");
  sums[w].vectorize(sums[w].spatial<1>()[0], 8);
  lesson.say(
      "But sums may be regrouped (floats then round differently). associative_scan adds up each block, a short scan of these\n"
      "totals gives what precedes each block, and then workers scan the blocks independently. It reads every term twice:");
  auto [outer, inner] = sums[upto].split(sums[upto].spatial<1>()[0], 512);
  auto [total, carry, block] = sums[upto].associative_scan(outer);
  lesson.definitions(sums);
  block.compute_at(outer);
  sums[upto].parallel(outer).vectorize(inner, 8);
  total.parallel(total.spatial<1>()[0]);
  (void)carry;
  tutorial::Array<std::int32_t> ones({11}, [](std::int64_t n) { return n; });
  tutorial::Array<std::int32_t> wide({4}, [](std::int64_t) { return -1; });
  Schedule there(windows, Target::host());
  there.replay(sums.json());
  if (!tutorial::run(there, ones, wide)) return 1;
  lesson.say("For 0, 1, ..., 10, in blocks of eight, the result is:");
  lesson.show(std::to_string(wide(0)) + " " + std::to_string(wide(1)) + " " + std::to_string(wide(2)) + " " +
              std::to_string(wide(3)));
  return 0;
}
