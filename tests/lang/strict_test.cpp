// The uses of strict_uses.cpp, which is compiled without exceptions and run-time types, run.
#include <doctest/doctest.h>

#include "tests/support/refused.h"
#include "tests/lang/run.h"
#include "tests/lang/strict_uses.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

using namespace ashlar;
using V = std::vector<double>;

namespace {
struct Fixture {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N});
  V values(const Tensor& t, std::vector<Extent> shape, std::vector<std::int64_t> sizes) {
    const Tensor y = lang::make_output("y", t.type(), shape);
    lang::bind(y, t);
    return run({x, y}, {counting(i32, {4}), interp::Array::zeros(t.type(), sizes)});
  }
};
#ifdef __SANITIZE_ADDRESS__
using WithoutLeakCheck = __lsan::ScopedDisabler;
#else
struct WithoutLeakCheck {
  WithoutLeakCheck() {}
};
#endif
}  // namespace

TEST_CASE_FIXTURE(Fixture, "code compiled without exceptions defines the same tensors") {
  CHECK(values(strict::zero(N), {N}, {4}) == V{0, 0, 0, 0});
  CHECK(values(strict::iota(N), {N}, {4}) == V{0, 1, 2, 3});
  CHECK(values(strict::total(x), {}, {}) == V{10});
  CHECK(values(strict::triangle(x, N), {N}, {4}) == V{1, 3, 6, 10});
  CHECK(values(strict::filtered(x, N), {N}, {4}) == V{1, 3, 6, 10});
  CHECK(values(strict::labeled(x, N), {N, N}, {4, 4}) == V{0, 1, 2, 3, -1, 0, 1, 2, -2, -1, 0, 1, -3, -2, -1, 0});
  const Tensor o = strict::offset(x, N);
  CHECK(values(compute("shifted", {N}, [&](Var i) { return o(i - 2) + o(i + 1 - N % 2); }), {N}, {4}) == V{3, 4, 5, 6});
}

TEST_CASE_FIXTURE(Fixture, "an expression of many kinds of operands is an index, stored as i64") {
  const Tensor m = strict::mixes(x, N);
  CHECK(m.type() == i64);
  // by hand: a = 2x + 3i - k/2 + N%4 + 5x, c = i == 0 or k != N or ..., always true for i >= 0
  V expected;
  for (int i = 0; i < 4; ++i) {
    double total = 0;
    for (int k = 0; k < 4; ++k) {
      const int v = k + 1, a = 7 * v + 3 * i - k / 2;
      total += -(a + i) * 2 + a + std::max(a, 3);
    }
    expected.push_back(total);
  }
  CHECK(values(m, {N}, {4}) == expected);
}

TEST_CASE("a refusal passes through code that is compiled without exceptions") {
  const WithoutLeakCheck frames;  // that the refusal passes destroy nothing
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N});
  const Refusal r = refusal([&] { strict::running_maximum(x, N); });  // of floats
  CHECK(r.found == "i32");
  CHECK(r.text().find("strict_uses.cpp:") == 0);
  const Tensor two = lang::make_input("two", f32, {N, N}), one = lang::make_input("one", f32, {N});
  CHECK(strict::smooth(two, lang::make_scalar("a", f32)).rank() == 2);
  CHECK(strict::running_maximum(one, N).type() == f32);
}
