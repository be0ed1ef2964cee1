// The persistent matrix product of launch_matmul.h equals a plain one, and no weakened form of it goes unnoticed.
#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <map>
#include <numeric>

#include <ashlar/analysis/verify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/interp/launch_matmul.h"
#include "tests/interp/mutation.h"

using namespace launches;
using interp::Array;
using interp::RunError;

namespace {

using persistent::matmul;

struct Shape {
  std::int64_t m, n, k;
};

std::string differs(const ir::Kernel& kernel, Shape s, bool races) {
  static std::map<std::array<std::int64_t, 3>, interp::Arguments> known;  // operands and the plain product
  interp::Arguments& expected = known[{s.m, s.n, s.k}];
  if (expected.empty()) {
    const auto value = [](std::int64_t i, std::int64_t j) { return (i * 5 + j * 3 + i * j % 7) % 5 - 2; };
    std::vector<std::int64_t> a, b;
    for (std::int64_t i = 0; i < s.m * s.k; ++i) a.push_back(value(i / s.k, i % s.k));
    for (std::int64_t i = 0; i < s.n * s.k; ++i) b.push_back(value(i / s.k + 3, i % s.k));
    const auto row = [&](std::vector<std::int64_t>& x, std::int64_t i) { return x.data() + i * s.k; };
    expected.push_back(Array::make(bf16, {s.m, s.k}, [&](auto at) { return static_cast<double>(row(a, at[0])[at[1]]); }));
    expected.push_back(Array::make(bf16, {s.n, s.k}, [&](auto at) { return static_cast<double>(row(b, at[0])[at[1]]); }));
    expected.push_back(Array::make(bf16, {s.m, s.n}, [&](auto at) {
      const std::int64_t *x = row(a, at[0]), *y = row(b, at[1]);
      return static_cast<double>(std::inner_product(x, x + s.k, y, std::int64_t{0}));
    }));
  }
  interp::Arguments args{expected[0].array, expected[1].array, Array::zeros(bf16, {s.m, s.n})};
  interp::Options o;
  o.races = races;
  interp::run(kernel, args, o);
  return interp::difference(args[2].array, expected[2].array);
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

const std::vector<Shape> shapes{
    {128, 256, 640},  // one tile; more trips than twice the depth
    {128, 256, 128},  // fewer than the depth
    {256, 512, 320},  // two tiles a block; trips that are not multiples of the depth
    {200, 264, 200},  // ragged in each dimension
    {40, 24, 8},      // less than a tile
};

}  // namespace

TEST_CASE("a persistent matrix product: equal to the plain one on every shape") {
  const Builder b = matmul();
  CHECK_NOTHROW(analysis::verify(b.k));
  CHECK(golden("interp/golden/matmul.txt", ir::text(b.k)) == "");
  for (const Shape& s : shapes)
    for (bool races : {false, true}) {
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(s.k);
      CAPTURE(races);
      const double start = cpu_seconds();
      CHECK(differs(b.k, s, races) == "");
      MESSAGE("matmul " << s.m << " x " << s.n << " x " << s.k << std::string(races ? ", races: " : ": ")
                        << cpu_seconds() - start << " s of CPU time");
    }
}

TEST_CASE("a persistent matrix product: every mutant is reported") {
  const Builder b = matmul();
  std::vector<Run> runs;
  for (const Shape& s : {shapes[2], shapes[0], shapes[3]})
    runs.push_back([s](const ir::Kernel& k) { return differs(k, s, true); });
  check_killed("matmul", kill(b, runs));
}
