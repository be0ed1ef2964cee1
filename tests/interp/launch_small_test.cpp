// The small programs of launch_small.h equal a plain reference on every shape, and no weakened form of one goes unnoticed.
#include <doctest/doctest.h>

#include <ashlar/analysis/verify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/interp/launch_small.h"
#include "tests/interp/mutation.h"

using namespace launches;
using interp::Array;
using interp::RunError;

namespace {

using small::block_sum, small::Tile, small::transposition;

Array counting(std::int64_t m, std::int64_t n) {
  return Array::make(f32, {m, n}, [](auto at) { return static_cast<double>((at[0] * 7 + at[1] * 3) % 11 - 5); });
}

std::string sum_differs(const ir::Kernel& k, std::int64_t m, std::int64_t n, bool races) {
  interp::Arguments args{counting(m, n), Array::zeros(f32, {m})};
  const Array expected = Array::make(f32, {m}, [&](auto at) {
    double s = 0;
    for (std::int64_t j = 0; j < n; ++j) s += args[0].array.real({at[0], j});
    return s;
  });
  interp::Options o;
  o.races = races;
  interp::run(k, args, o);
  return interp::difference(args[1].array, expected);
}

std::string transposition_differs(const ir::Kernel& k, std::int64_t m, std::int64_t n, bool races) {
  interp::Arguments args{counting(m, n), Array::zeros(f32, {n, m})};
  const Array expected = Array::make(f32, {n, m}, [&](auto at) { return args[0].array.real({at[1], at[0]}); });
  interp::Options o;
  o.races = races;
  interp::run(k, args, o);
  return interp::difference(args[1].array, expected);
}

using Differs = std::string (*)(const ir::Kernel&, std::int64_t, std::int64_t, bool);

void check(const Builder& b, Differs differs, const std::string& file) {
  CHECK_NOTHROW(analysis::verify(b.k));
  CHECK(golden("interp/golden/" + file, ir::text(b.k)) == "");
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{6, 600}, {1, 64}, {2, 256}, {5, 1}, {67, 45}, {1, 1}};
  for (const auto& [m, n] : shapes)
    for (bool races : {false, true}) CHECK(differs(b.k, m, n, races) == "");
  std::vector<Run> runs;
  for (const auto& [m, n] : shapes)
    runs.push_back([differs, m = m, n = n](const ir::Kernel& k) { return differs(k, m, n, true); });
  check_killed(b.k.name, kill(b, runs));
}

}  // namespace

TEST_CASE("a sum over each row by a block: shuffles, then shared memory") { check(block_sum(), sum_differs, "block_sum.txt"); }

TEST_CASE("a transposition through padded shared memory") {
  check(transposition(Tile::padded), transposition_differs, "transposition_padded.txt");
}

TEST_CASE("a transposition through swizzled shared memory") {
  check(transposition(Tile::swizzled), transposition_differs, "transposition_swizzled.txt");
}
