// Lesson 1: an algorithm, its loops, and a call.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("1. Hello: an algorithm and a call");
  lesson.say(
      "An algorithm says what every element of a tensor is. It is a lambda over index variables, called once to find out what\n"
      "you wrote; it says nothing of loops or of memory. N is an extent that is known when the function is called.");
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i) * 2 + 1; }));

  lesson.say("From the definitions a program is built. Printed, it reads:");
  Schedule s(lang::build_program("hello", {x, y}), Target::host());
  lesson.definitions(s);

  lesson.say(
      "Until a schedule says otherwise, each tensor is computed by plain loops over its elements, in the order of definition.\n"
      "A nest is one place where a tensor is computed, with the box of elements that are computed there:");
  lesson.loops(s);

  lesson.say("It is compiled for this processor and called on numbers in memory: 0, 1, 2, 3, 4.");
  tutorial::Array<float> in({5}, [](std::int64_t k) { return k; }), out({5}, [](std::int64_t) { return 0; });
  if (!tutorial::run(s, in, out)) return 1;
  lesson.show(std::to_string(out(0)) + " " + std::to_string(out(1)) + " ... " + std::to_string(out(4)));

  lesson.say("What does not fit is an error of the call that names the argument, and nothing is written:");
  tutorial::Array<float> shorter({4}, [](std::int64_t) { return 0; });
  if (tutorial::run(s, in, shorter)) return 1;
  return 0;
}
