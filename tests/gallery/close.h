#pragma once
// Values for the programs of the gallery, and how far a result may be from a reference computed in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/sentence.h"
#include "tests/uses/tensors.h"

// Between -1 and 1, the same in every run.
inline auto fractions(unsigned salt = 1) {
  return [salt](std::size_t i) { return static_cast<float>((i + salt) * 2654435761u % 4093) / 2046.5f - 1.0f; };
}

using test::last_error;

// Every element within `tolerance` of the largest value of the reference.
inline void close(const std::vector<float>& got, const std::vector<double>& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  double largest = 0;
  for (double e : expected) largest = std::max(largest, std::fabs(e));
  std::size_t worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    if (!(std::fabs(got[k] - expected[k]) <= std::fabs(got[worst] - expected[worst]))) worst = k;
  if (got.empty()) return;
  CAPTURE(worst);
  CAPTURE(got[worst]);
  CAPTURE(expected[worst]);
  CHECK(std::fabs(got[worst] - expected[worst]) <= tolerance * largest);
}
