// Lesson 1: an algorithm, its loops, and a call.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("1. Hello: an algorithm and a call");
  lesson.say(
      "An algorithm defines every element of a tensor. It is a lambda over index variables, which is called once to record\n"
      "its formula. It says nothing about loops or memory. N is an extent that is known when the compiled function is called.");
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i) * 2 + 1; }));

  lesson.say("The definitions form a program. Printed, it reads:");
  Schedule s(lang::build_program("hello", {x, y}), Target::host());
  lesson.definitions(s);

  lesson.say(
      "Without a schedule, each tensor is computed by plain loops over its elements, in the order of the definitions. A nest\n"
      "is one place where a tensor is computed; its first line gives the box of elements that are computed there:");
  lesson.loops(s);

  lesson.say("The program is compiled for this processor and called with the numbers 0, 1, 2, 3, 4:");
  tutorial::Array<float> in({5}, [](std::int64_t k) { return k; }), out({5}, [](std::int64_t) { return 0; });
  if (!tutorial::run(s, in, out)) return 1;
  lesson.show(std::to_string(out(0)) + " " + std::to_string(out(1)) + " ... " + std::to_string(out(4)));

  lesson.say("If an argument does not fit, the call fails before it writes anything, and the error names the argument:");
  tutorial::Array<float> shorter({4}, [](std::int64_t) { return 0; });
  if (tutorial::run(s, in, shorter)) return 1;
  return 0;
}
