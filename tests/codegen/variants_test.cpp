// Variants, compiled: the entry takes the right one, and says what is wrong with a call that breaks what one of them assumes.
#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/sentence.h"
#include "tests/support/variant_operators.h"
#include "tests/uses/tensors.h"

using namespace ashlar;

namespace {

codegen::Compiled compiled(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return codegen::compile(lower(s.scheduled().program, options_for(s.target())), s.target());
}

int call(const codegen::Compiled& code, std::int64_t n, bool& right) {
  Dense<std::int32_t> x({n + 1}, [](std::size_t i) { return static_cast<std::int32_t>(i * i % 37); });
  Dense<std::int32_t> y({n});
  const ashlar_tensor in = x.tensor(), out = y.tensor();
  const int status = code.call(std::vector<const void*>{&in, &out});
  constexpr std::int32_t weights[] = {3, 1, 4, 1};
  right = true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    right = right && y.data[i] == x.data[i + 1] * 2 + weights[(i + 1) % 4] - (x.data[i] * 2 + weights[i % 4]);
  return status;
}

}  // namespace

TEST_CASE("every size gets its variant, and the same values") {
  for (const Target& target : kernels::runnable({"x86-64-v2", "x86-64-v3", "x86-64-v4", "host"})) {
    const codegen::Compiled code = compiled(variant_operators::ByTiles(target).s);
    for (const std::int64_t n : {0, 1, 5, 7, 8, 9, 16, 17, 40, 1000, 1001}) {
      CAPTURE(n);
      bool right = false;
      CHECK(call(code, n, right) == ASHLAR_OK);
      CHECK(right);
    }
  }
}

TEST_CASE("what a variant assumes is asked of the calls that take it") {
  variant_operators::Differences o(Target::parse("host"));
  o.s.specialize(o.N < 16).assume(o.N % 2 == 0);
  const codegen::Compiled code = compiled(o.s);
  bool right = false;
  CHECK(call(code, 14, right) == ASHLAR_OK);
  CHECK(right);
  CHECK(call(code, 17, right) == ASHLAR_OK);
  CHECK(right);
  CHECK(call(code, 15, right) != ASHLAR_OK);
  CHECK(test::last_error() == "differences: expected N >= 16 || N % 2 == 0, which does not hold");
}
