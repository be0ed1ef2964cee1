// Lesson 5: what a refusal says.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("5. Refusals: what cannot be done, and why");
  lesson.say(
      "A step that would change a result is refused, at your line: what was expected, what was found, and, where there is one, "
      "a\n"
      "conflict: two iterations that would come out differently. Outside of attempt a refusal ends the generator; inside of "
      "it\n"
      "the refusal comes back as a value and nothing has changed.");
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 4}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N - 2});
  Tensor half = compute("half", [&](Var i) { return x(i) * 0.5f; });
  lang::bind(y, compute("y", {{"i", N - 2}}, [&](Var i) { return half(i) + half(i + 2); }));
  Schedule s(lang::build_program("refused", {x, y}), Target::parse("x86-64-v3"));
  lesson.loops(s);

  auto i = s[y].spatial<1>()[0];
  lesson.say("A vector has a constant number of lanes. s[y].vectorize(i) over all of N - 2 elements:");
  lesson.refused(s.attempt([&] { s[y].vectorize(i); }));
  lesson.say("A split that promises that nothing is left over, s[y].split(i, 4, Tail::exact):");
  lesson.refused(s.attempt([&] { s[y].split(i, 4, Tail::exact); }));
  lesson.say("half computed inside of y's loop, each iteration only what is new, with iterations on several cores:");
  lesson.refused(s.attempt([&] {
    auto [strip, at] = s[y].split(i, 64);
    s[y].tighten(at);
    s[half].compute_at(at).store_at(strip).slide(at);
    s[y].parallel(at);
  }));
  lesson.say(
      "Sums of floats depend on their order. strict_sum keeps it, so that its loop is no candidate for threads or lanes:");
  lang::DefinitionScope other;
  Symbol K{"K"};
  Tensor v = lang::make_input("v", f32, {K}), t = lang::make_output("t", f32, {});
  Axis k{"k", K};
  lang::bind(t, compute("t", [&] { return strict_sum(v(k), k); }));
  Schedule strict(lang::build_program("strict", {v, t}), Target::parse("x86-64-v3"));
  lesson.refused(strict.attempt([&] { strict[t].rfactor(strict[t].split(strict[t].reduction(), 8).inner); }));
  lesson.say(
      "And a program whose reads may leave what they read is refused before any schedule, at the line of the definition:");
  lang::DefinitionScope third;
  Symbol L{"L"};
  Tensor a = lang::make_input("a", f32, {L}), b = lang::make_output("b", f32, {L});
  lang::bind(b, compute("b", {L}, [&](Var n) { return a(n + 1); }));
  try {
    Schedule outside(lang::build_program("outside", {a, b}), Target::host());
  } catch (const RefusalError& e) { lesson.show(e.what()); }
  return 0;
}
