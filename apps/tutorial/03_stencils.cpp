// Lesson 3: two stages, and where the first of them is computed.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("3. Placement: compute_root, inline, compute_at, slide");
  lesson.say(
      "A blur in two stages: across sums three neighbours in a row, out sums three rows of across. The extents of across are "
      "not\n"
      "written down: it is computed where its readers need it, here on H rows, from two more rows of the input than out has.");
  const auto build = [](Tensor& across, Tensor& out) {
    Symbol H{"H", {.min = 8}}, W{"W", {.min = 8}};
    Tensor in = lang::make_input("in", f32, {H, W});
    out = lang::make_output("out", f32, {H - 2, W - 2});
    across = compute("across", [&](Var y, Var x) { return in(y, x) + in(y, x + 1) + in(y, x + 2); });
    lang::bind(out, compute("blurred", {{"y", H - 2}, {"x", W - 2}},
                            [&](Var y, Var x) { return (across(y, x) + across(y + 1, x) + across(y + 2, x)) / 9; }));
    return lang::build_program("blur", {in, out});
  };
  lang::DefinitionScope scope;
  Tensor across, out;
  Schedule root(build(across, out), Target::parse("x86-64-v3"));
  lesson.definitions(root);
  lesson.say("As it stands all of across is computed first, and kept:");
  lesson.loops(root);

  lesson.say("Inlined, it is computed again for each of its three readers, and kept nowhere:");
  Schedule in_line(build(across, out), Target::parse("x86-64-v3"));
  in_line[across].inline_();
  lesson.loops(in_line);

  lesson.say(
      "In between lies computing it inside of a loop of its reader. Inside of the loop over y, three rows are needed. The box "
      "of\n"
      "the nest is what is computed there; it was derived, not written:");
  Schedule at(build(across, out), Target::parse("x86-64-v3"));
  lesson.watch(at);
  auto [y, x] = at[out].spatial<2>();
  auto [strip, row] = at[out].split(y, 32);
  at[out].tighten(row);
  at[across].compute_at(row);
  lesson.say(
      "Two of the three rows were computed for the row before. Stored outside of the loop over rows they are still there:");
  at[across].store_at(strip);
  lesson.say("so that each iteration needs to compute the new row alone, once the first of a strip has computed all three:");
  at[across].slide(row);
  lesson.say(
      "and of the strip's rows only three are alive at a time: a ring of four holds them (a power of two is a cheap modulo).");
  at[across].fold(0, 4);
  lesson.say("Strips are independent of one another, each with a ring of its own; columns become vectors:");
  at[out].parallel(strip).vectorize(x, 8);
  at[across].vectorize(at[across].spatial<2>()[1], 8);
  return 0;
}
