// Lesson 9: results that choose their place: a histogram, alone and by many workers.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("9. Scatters: a histogram");
  lesson.say(
      "So far a stage said, for each of its elements, what to read. A histogram is the other way round: each pixel says which\n"
      "element it adds to. That is a scatter: points, and for each of them put(value, where).");
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), counts = lang::make_output("counts", u32, {256});
  lang::bind(counts, scatter("counts", {256}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                             [&](Var y, Var x) { return put(u32(1), in(y, x)); }));
  const lang::Built histogram = lang::build_program("histogram", {in, counts});
  Schedule s(histogram, Target::parse("x86-64-v3"));
  lesson.definitions(s);
  lesson.say(
      "It has two nests of loops in one: the init goes over the result, 256 zeros; the update goes over the points. That in(y, "
      "x)\n"
      "lies inside of the result needs no proof by you: a u8 ends at 255.");
  lesson.loops(s);

  lesson.say(
      "The loops over points are the reduction of the stage. Two pixels may have one value, so their rows are no independent\n"
      "iterations, whatever the picture is. s[counts].parallel(y):");
  auto [y, x] = s[counts].reduction<2>();
  lesson.refused(s.attempt([&] { s[counts].parallel(y); }));
  lesson.say(
      "There are two ways out. The first: some histograms of their own, and their sum. Sixteen strips of rows, each with 256\n"
      "counts for itself, which is what rfactor makes of the loop over strips:");
  Schedule apart(histogram, Target::parse("x86-64-v3"));
  lesson.watch(apart);
  auto [yo, yi] = apart[counts].split(apart[counts].reduction<2>()[0], Parts{16});
  Stage partial = apart[counts].rfactor(yo, Place::first);
  lesson.say("Strips do not meet any more:");
  partial.parallel(partial.spatial<2>()[0]);
  (void)yi;

  lesson.say(
      "The second: one histogram for all, to which every step adds by one indivisible update of memory. No memory is needed "
      "and\n"
      "nothing is summed afterwards; where most pixels are equal the workers wait for one another. Integers come out the same "
      "in\n"
      "any order, so the result is the same to the bit; a sum of floats would differ in its last digits from run to run.");
  lesson.watch(s);
  s[counts].atomic();
  s[counts].parallel(y);
  (void)x;

  lesson.say("Both on a picture of 4 x 6 pixels, black but for a diagonal: the counts of 0, 1, 2 and 3.");
  for (const Schedule* way : {&apart, &s}) {
    Schedule here(histogram, Target::host());
    here.replay(way->json());
    tutorial::Array<std::uint8_t> picture({4, 6}, [](std::int64_t n) { return n % 7 == 0 ? n / 7 : 0; });
    tutorial::Array<std::uint32_t> found({256}, [](std::int64_t) { return 99; });
    if (!tutorial::run(here, picture, found)) return 1;
    lesson.show(std::to_string(found(0)) + " " + std::to_string(found(1)) + " " + std::to_string(found(2)) + " " +
                std::to_string(found(3)));
  }
  lesson.say(
      "Where an index may lie outside, put_if says when there is something to add; the others are dropped. Without it the\n"
      "definition is refused:");
  lang::DefinitionScope other;
  Symbol N{"N"}, V{"V"};
  Tensor rows = lang::make_input("rows", i32, {N}), seen = lang::make_output("seen", u32, {V});
  try {
    lang::bind(seen, scatter("seen", {V}, Combine::add, u32(0), {N}, [&](Var n) { return put(u32(1), rows(n)); }));
    Schedule outside(lang::build_program("outside", {rows, seen}), Target::host());
  } catch (const RefusalError& e) { lesson.show(e.what()); }
  lang::DefinitionScope third;
  Tensor which = lang::make_input("which", i32, {N}), kept = lang::make_output("kept", u32, {V});
  lang::bind(kept, scatter("kept", {V}, Combine::add, u32(0), {{"n", N}},
                           [&](Var n) { return put_if(which(n) >= 0 && which(n) < V, u32(1), which(n)); }));
  Schedule inside(lang::build_program("inside", {which, kept}), Target::host());
  lesson.definitions(inside);
  return 0;
}
