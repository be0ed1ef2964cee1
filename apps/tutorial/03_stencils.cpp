// Lesson 3: two stages, and where the first of them is computed.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("3. Placement: compute_root, inline, compute_at, slide");
  lesson.say(
      "A blur in two stages: across sums three neighbors in a row, and out sums three rows of across. The extents of across\n"
      "are not declared: it is computed for the elements that its readers read. Here out reads H rows of it, two more than\n"
      "out itself has.");
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
  lesson.say("Without a schedule, all of across is computed first and stored:");
  lesson.loops(root);

  lesson.say("Inlined, it is computed again for each of its three readers, and is not stored:");
  Schedule in_line(build(across, out), Target::parse("x86-64-v3"));
  in_line[across].inline_();
  lesson.loops(in_line);

  lesson.say(
      "compute_at is in between: the stage is computed inside a loop of its reader. Inside the loop over y, three rows are\n"
      "needed. The box of the nest says what is computed there. It is derived from what the reader reads:");
  Schedule at(build(across, out), Target::parse("x86-64-v3"));
  lesson.watch(at);
  auto [y, x] = at[out].spatial<2>();
  auto [strip, row] = at[out].split(y, 32);
  at[out].tighten(row);
  at[across].compute_at(row);
  lesson.say(
      "Two of these three rows were already computed for the previous row of out. If across is stored outside of the loop\n"
      "over rows, they are still there,");
  at[across].store_at(strip);
  lesson.say("so that each iteration computes only the new row. The first iteration of a strip computes all three:");
  at[across].slide(row);
  lesson.say(
      "Only three rows of a strip are alive at a time, so a ring of four is enough (a power of two makes the modulo cheap):");
  at[across].fold(0, 4);
  lesson.say("Strips are independent of each other, each with its own ring, and columns become vectors:");
  at[out].parallel(strip).vectorize(x, 8);
  at[across].vectorize(at[across].spatial<2>()[1], 8);
  return 0;
}
