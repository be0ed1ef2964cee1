// The tile of attention of launch_attention.h equals a plain one, and no weakened form of it goes unnoticed.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>

#include <ashlar/analysis/verify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/interp/launch_attention.h"
#include "tests/interp/mutation.h"

using namespace launches;
using interp::Array;

namespace {

using fragments::attention, fragments::dim;

struct Shape {
  std::int64_t s, t;
};

// Small integers: every score, power, sum and product is exact, so the order of the steps does not matter.
std::string differs(const ir::Kernel& kernel, Shape shape, bool races) {
  const auto q = [](std::int64_t i, std::int64_t d) { return (i * 5 + d * 3) % 13 == 0 ? 1.0 : 0.0; };
  const auto k = [](std::int64_t j, std::int64_t d) { return static_cast<double>((j * 3 + d * 2 + j / 7) % 5 - 2); };
  const auto v = [](std::int64_t j, std::int64_t d) { return static_cast<double>((j * 3 + d * 2) % 7 - 3); };
  static std::map<std::array<std::int64_t, 2>, Array> known;
  Array& expected = known[{shape.s, shape.t}];
  if (expected.shape.empty())
    expected = Array::make(f32, {shape.s, dim}, [&](auto at) {
      double sum = 0, out = 0, top = -1e30;
      std::vector<double> scores;
      for (std::int64_t j = 0; j < shape.t; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < dim; ++d) score += q(at[0], d) * k(j, d);
        scores.push_back(score);
        top = std::max(top, score);
      }
      for (std::int64_t j = 0; j < shape.t; ++j) {
        const double e = std::exp2(scores[static_cast<std::size_t>(j)] - top);
        sum += e;
        out += e * v(j, at[1]);
      }
      return static_cast<double>(static_cast<float>(out) / static_cast<float>(sum));
    });
  interp::Arguments args{Array::make(bf16, {shape.s, dim}, [&](auto at) { return q(at[0], at[1]); }),
                         Array::make(bf16, {shape.t, dim}, [&](auto at) { return k(at[0], at[1]); }),
                         Array::make(bf16, {shape.t, dim}, [&](auto at) { return v(at[0], at[1]); }),
                         Array::zeros(f32, {shape.s, dim})};
  interp::Options options;
  options.races = races;
  interp::run(kernel, args, options);
  return interp::difference(args[3].array, expected);
}

}  // namespace

TEST_CASE("a tile of attention: equal to the plain one on every shape") {
  const Builder b = attention();
  CHECK_NOTHROW(analysis::verify(b.k));
  CHECK(golden("interp/golden/attention.txt", ir::text(b.k)) == "");
  for (const Shape& shape : {Shape{64, 160}, {64, 32}, {64, 64}, {40, 75}, {130, 20}, {1, 1}})
    for (bool races : {false, true}) {
      CAPTURE(shape.s);
      CAPTURE(shape.t);
      CAPTURE(races);
      CHECK(differs(b.k, shape, races) == "");
    }
}

TEST_CASE("a tile of attention: every mutant is reported") {
  const Builder b = attention();
  std::vector<Run> runs;
  for (const Shape& shape : {Shape{40, 75}, Shape{64, 160}})
    runs.push_back([shape](const ir::Kernel& k) { return differs(k, shape, true); });
  check_killed("attention", kill(b, runs));
}
