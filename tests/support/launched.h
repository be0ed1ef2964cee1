#pragma once
// A lowered launch beside the algorithm, both run by the interpreter.
//
//   expect_as_defined(op.built.program, kernel, given, {.misaligned = {0, 2}});
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <ashlar/interp/interpreter.h>

namespace launched {

struct How {
  std::vector<std::int64_t> misaligned = {0};  // bytes by which rows miss multiples of a vector, one run for each
  bool races = true;                           // looks for races too
  double relative = 0, absolute = 0;           // of the algorithm's values; 0: its bits
};

// The last argument is the result.
inline void expect_as_defined(const ashlar::ir::Program& program, const ashlar::ir::Kernel& kernel,
                              const ashlar::interp::Arguments& given, const How& how = {}) {
  ashlar::interp::Arguments meant = given;
  ashlar::interp::run_algorithm(program, meant);
  for (const std::int64_t misaligned : how.misaligned) {
    ashlar::interp::Arguments found = given;
    ashlar::interp::Options options;
    options.races = how.races, options.misaligned = misaligned;
    REQUIRE_NOTHROW(ashlar::interp::run(kernel, found, options));
    CHECK(ashlar::interp::difference(found.back().array, meant.back().array, how.relative, how.absolute) == "");
  }
}

// Random whole numbers from `low` to `high`, divided by `parts`.
inline ashlar::interp::Array whole_numbers(ashlar::Type t, std::vector<std::int64_t> shape, unsigned seed, int low, int high,
                                           int parts = 1) {
  std::mt19937 random(seed);
  return ashlar::interp::Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) {
    return (static_cast<double>(random() % static_cast<unsigned>(high - low + 1)) + low) / parts;
  });
}

}  // namespace launched
