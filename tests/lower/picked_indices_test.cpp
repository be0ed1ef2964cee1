// Unrolled loops that pick indices from a constant: the indices are numbers before tiles are told apart into those inside and
// those at a border. The interpreter compares each kernel with the algorithm.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

#include "tests/support/text_parts.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// y[d, i] = x[d, (i - at[d]) % N], in vectors of 8.
std::string rotated(const std::vector<int>& at, bool unrolled) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const auto D = static_cast<std::int64_t>(at.size());
  const Tensor table = constant("at", i32, {D}, at);
  const Tensor x = lang::make_input("x", f32, {D, N}), y = lang::make_output("y", f32, {D, N});
  const Tensor made = compute("made", {D, N}, [&](Var d, Var i) { return x(d, (i - table(d)) % N) + f32(table(d)); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("rotated", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const auto [d, i] = s[made].spatial<2>();
  const Split split = s[made].split(i, 8, Tail::guard);
  s[made].vectorize(split.inner);
  if (unrolled) s[made].unroll(d);
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  std::string text = ir::text(k);
  CAPTURE(text);
  std::vector<Sizes> lengths;
  for (const std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 23, 24, 25, 41}) lengths.push_back({{"N", n}});
  handmade::check_kernel(built.program, k, lengths);
  return text;
}

using text_parts::has;

}  // namespace

TEST_CASE("picked indices: an unrolled loop has numbers, and vectors at a border are moved inside") {
  const std::string text = rotated({1, 0, -1}, true);
  CHECK_FALSE(has(text, "index(at["));
  CAPTURE(text);
  CHECK(has(text, "for side in"));
}

TEST_CASE("picked indices: a loop that stays reads them") { CHECK(has(rotated({1, 0, -1}, false), "index(at[")); }

TEST_CASE("picked indices: steps beyond a period") { CHECK_FALSE(has(rotated({5, -9, 100, 0}, true), "index(at[")); }
