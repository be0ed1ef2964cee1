#pragma once
// Random small programs, written in the language, and their text as a user would type it.
#include <set>
#include <string>

#include <ashlar/lang/build_program.h>

#include "source.h"

namespace fuzz {

struct Made {
  ashlar::lang::Built built;
  std::string text;
  // Floats hold small whole numbers everywhere, so that a sum gives the same in any order.
  bool exact = false;
  std::set<std::string> forms;  // of the language that it uses: "scatter", "triangle"
  bool edges = false;           // inputs hold NaN, infinities, subnormals and extremes
};

// Between 1 and 5 stages of rank 0 to 3 over inputs, Symbols and Scalars. Refusals of the language pass through: a program that
// it does not accept is none. To be called inside a lang::DefinitionScope.
Made make_program(Source&);

}  // namespace fuzz
