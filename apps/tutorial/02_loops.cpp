// Lesson 2: splitting, vectors, several cores.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("2. Loops: split, vectorize, parallel");
  lesson.say(
      "A schedule changes how a program is computed and never what: each step is proved, or refused. Steps are calls on a "
      "stage,\n"
      "s[y]; loops are handles that the calls give back.");
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return max(x(i, j), 0) * 0.5f; }));
  Schedule s(lang::build_program("scaled", {x, y}), Target::parse("x86-64-v3"));
  lesson.watch(s);

  lesson.say(
      "Eight numbers fit a vector register of this target. To compute eight columns at once, the loop over them is split:");
  auto [i, j] = s[y].spatial<2>();
  auto [jo, ji] = s[y].split(j, 8);
  lesson.say(
      "N may be no multiple of 8: the last iterations lie outside of the domain, and are left out (Tail::guard; a split can be "
      "told\n"
      "otherwise). In code that is a mask, where it is needed. The inner loop, of eight iterations always, becomes a vector:");
  s[y].vectorize(ji);
  lesson.say("Rows are independent of one another, which is proved here, so that cores may share them:");
  s[y].parallel(i);
  lesson.say("Both at once, split and vectorize, is what s[y].vectorize(j, 8) does. The steps that were taken:");
  lesson.show(s.trace());
  (void)jo;

  Schedule here(lang::build_program("scaled", {x, y}), Target::host());
  auto [row, column] = here[y].spatial<2>();
  here[y].vectorize(column, 8).parallel(row);
  tutorial::Array<float> in({3, 5}, [](std::int64_t k) { return k - 7; }), out({3, 5}, [](std::int64_t) { return -1; });
  if (!tutorial::run(here, in, out)) return 1;
  lesson.say("Of -7 to 7 in three rows of five, the last row becomes:");
  lesson.show(std::to_string(out(2, 0)) + " " + std::to_string(out(2, 1)) + " ... " + std::to_string(out(2, 4)));
  return 0;
}
