// Lesson 5: how to read a refusal.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("5. Refusals: how to read them");
  lesson.say(
      "A step that would change a result is refused at your line. The refusal says what was expected, what was found, and, if\n"
      "there is one, a conflict: two iterations that would give different results. A refusal ends the generator, except\n"
      "inside of attempt, which returns it as a value and leaves the program unchanged.");
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 4}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N - 2});
  Tensor half = compute("half", [&](Var i) { return x(i) * 0.5f; });
  lang::bind(y, compute("y", {{"i", N - 2}}, [&](Var i) { return half(i) + half(i + 2); }));
  Schedule s(lang::build_program("refused", {x, y}), Target::parse("x86-64-v3"));
  lesson.loops(s);

  auto i = s[y].spatial<1>()[0];
  lesson.say("A vector has a constant number of lanes. s[y].vectorize(i) over all N - 2 elements is refused:");
  lesson.refused(s.attempt([&] { s[y].vectorize(i); }));
  lesson.say("Tail::exact promises that a split leaves nothing over. s[y].split(i, 4, Tail::exact) is refused:");
  lesson.refused(s.attempt([&] { s[y].split(i, 4, Tail::exact); }));
  lesson.say(
      "half is computed inside of y's loop, and each iteration computes only what is new. Running such iterations on several\n"
      "cores is refused:");
  lesson.refused(s.attempt([&] {
    auto [strip, at] = s[y].split(i, 64);
    s[y].tighten(at);
    s[half].compute_at(at).store_at(strip).slide(at);
    s[y].parallel(at);
  }));
  lesson.say(
      "The result of a sum of floats depends on the order. strict_sum keeps the order, so its loop cannot become threads or\n"
      "lanes:");
  lang::DefinitionScope other;
  Symbol K{"K"};
  Tensor v = lang::make_input("v", f32, {K}), t = lang::make_output("t", f32, {});
  Axis k{"k", K};
  lang::bind(t, compute("t", [&] { return strict_sum(v(k), k); }));
  Schedule strict(lang::build_program("strict", {v, t}), Target::parse("x86-64-v3"));
  lesson.refused(strict.attempt([&] { strict[t].rfactor(strict[t].split(strict[t].reduction(), 8).inner); }));
  lesson.say("A program that may read outside of a tensor is refused before any schedule, at the line of the definition:");
  lang::DefinitionScope third;
  Symbol L{"L"};
  Tensor a = lang::make_input("a", f32, {L}), b = lang::make_output("b", f32, {L});
  lang::bind(b, compute("b", {L}, [&](Var n) { return a(n + 1); }));
  try {
    Schedule outside(lang::build_program("outside", {a, b}), Target::host());
  } catch (const RefusalError& e) { lesson.show(e.what()); }
  return 0;
}
