// Lesson 9: steps that choose the element they update: a histogram, by one worker and by many.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("9. Scatters: a histogram");
  lesson.say(
      "So far, a stage defined what each of its elements reads. A histogram is the opposite: each pixel determines which\n"
      "element it adds to. This is a scatter: points, and for each point put(value, where).");
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), counts = lang::make_output("counts", u32, {256});
  lang::bind(counts, scatter("counts", {256}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                             [&](Var y, Var x) { return put(u32(1), in(y, x)); }));
  const lang::Built histogram = lang::build_program("histogram", {in, counts});
  Schedule s(histogram, Target::parse("x86-64-v3"));
  lesson.definitions(s);
  lesson.say(
      "The stage has two nests of loops: the init runs over the result, 256 zeros; the update runs over the points. You need\n"
      "not prove that in(y, x) is inside of the result: a u8 is at most 255.");
  lesson.loops(s);

  lesson.say(
      "The loops over points are the reduction of the stage. Two pixels may have the same value, so rows are not independent,\n"
      "whatever the image is. s[counts].parallel(y) is refused:");
  auto [y, x] = s[counts].reduction<2>();
  lesson.refused(s.attempt([&] { s[counts].parallel(y); }));
  lesson.say(
      "There are two solutions. The first one computes several histograms and their sum: sixteen strips of rows, each with\n"
      "its own 256 counts, which rfactor makes from the loop over strips:");
  Schedule apart(histogram, Target::parse("x86-64-v3"));
  lesson.watch(apart);
  auto [yo, yi] = apart[counts].split(apart[counts].reduction<2>()[0], Parts{16});
  Stage partial = apart[counts].rfactor(yo, Place::first);
  lesson.say("Strips no longer share elements:");
  partial.parallel(partial.spatial<2>()[0]);
  (void)yi;

  lesson.say(
      "The second solution has one histogram for all, to which every step adds by an atomic update of memory. It needs no\n"
      "extra memory and no final sum, but if most pixels are equal, the workers wait for each other. Integers give the same\n"
      "result in any order, to the bit; a sum of floats would differ in its last digits from run to run.");
  lesson.watch(s);
  s[counts].atomic();
  s[counts].parallel(y);
  (void)x;

  lesson.say("Both solutions, on an image of 4 x 6 pixels that is black except for a diagonal, count 0, 1, 2 and 3:");
  for (const Schedule* way : {&apart, &s}) {
    Schedule here(histogram, Target::host());
    here.replay(way->json());
    tutorial::Array<std::uint8_t> picture({4, 6}, [](std::int64_t n) { return n % 7 == 0 ? n / 7 : 0; });
    tutorial::Array<std::uint32_t> found({256}, [](std::int64_t) { return 99; });
    if (!tutorial::run(here, picture, found)) return 1;
    lesson.show(std::to_string(found(0)) + " " + std::to_string(found(1)) + " " + std::to_string(found(2)) + " " +
                std::to_string(found(3)));
  }
  lesson.say("If an index may be outside, put_if adds only if a condition holds. Without it the definition is refused:");
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
