#pragma once
// Random small programs, written in the language, and their text as a user would type it.
#include <optional>
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
  // A product of two matrices in whole tiles, where there is one: what a schedule in fragments is for.
  struct TiledProduct {
    ashlar::Tensor a, b, product, result;
    ashlar::Type half;
  };
  std::optional<TiledProduct> product;
  std::vector<ashlar::Tensor> chain;  // of windows, each over the one before it, the result last
};

// Between 1 and 5 stages of rank 0 to 3 over inputs, Symbols and Scalars. Refusals of the language pass through: a program that
// it does not accept is none. To be called inside a lang::DefinitionScope.
struct Kind {
  bool tiles = false;   // products of tiles often, for targets that have instructions for them
  bool device = false;  // no functions in C, which a device refuses, most of the time
  bool rows = false;    // products of tensors whose rows stand apart, most of the time
};
Made make_program(Source&, const Kind& = {});

}  // namespace fuzz
