// Lesson 2: splitting, vectors, several cores.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("2. Loops: split, vectorize, parallel");
  lesson.say(
      "A schedule changes how a program is computed, but never the result: each step is proved, or refused. Steps are calls\n"
      "on a stage, s[y]; loops are handles, which these calls return.");
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return max(x(i, j), 0) * 0.5f; }));
  Schedule s(lang::build_program("scaled", {x, y}), Target::parse("x86-64-v3"));
  lesson.watch(s);

  lesson.say(
      "A vector register of this target holds eight numbers. To compute eight columns at a time, split the loop over the\n"
      "columns:");
  auto [i, j] = s[y].spatial<2>();
  auto [jo, ji] = s[y].split(j, 8);
  lesson.say(
      "N need not be a multiple of 8. The last iterations may lie outside of the domain; a guard skips them (Tail::guard; a\n"
      "split can also have another tail). In the code this becomes a mask, only where it is needed. The inner loop, which\n"
      "always has eight iterations, becomes a vector:");
  s[y].vectorize(ji);
  lesson.say("Rows are independent of each other. The step proves this, and then several cores can share the rows:");
  s[y].parallel(i);
  lesson.say("s[y].vectorize(j, 8) does both, the split and the vectorization. These steps were taken:");
  lesson.show(s.trace());
  (void)jo;

  Schedule here(lang::build_program("scaled", {x, y}), Target::host());
  auto [row, column] = here[y].spatial<2>();
  here[y].vectorize(column, 8).parallel(row);
  tutorial::Array<float> in({3, 5}, [](std::int64_t k) { return k - 7; }), out({3, 5}, [](std::int64_t) { return -1; });
  if (!tutorial::run(here, in, out)) return 1;
  lesson.say("For an input of -7 to 7, in three rows of five, the last row is:");
  lesson.show(std::to_string(out(2, 0)) + " " + std::to_string(out(2, 1)) + " ... " + std::to_string(out(2, 4)));
  return 0;
}
