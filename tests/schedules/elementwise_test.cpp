// Elementwise stages in vectors: every rank and extent, types of several widths, producers inlined or computed for a row.
#include <ashlar/schedules/elementwise.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

TEST_CASE("a stage of one dimension") {
  check_scheduled("relu",
                  [](Maker& m) {
                    const Symbol N{"N"};
                    const Tensor y = ops::relu(m.in("x", f32, {N}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
                  },
                  {{{67}}, {{64}}, {{1}}, {{0}}}, {.emulated = true});
}

TEST_CASE("dimensions before the last one are one parallel loop; vectors are unrolled, stores go past the caches") {
  check_scheduled("sum of two",
                  [](Maker& m) {
                    const Symbol A{"A"}, B{"B"}, C{"C"};
                    const Tensor a = m.in("a", f32, {A, B, C}), b = m.in("b", f32, {B, C});
                    const Tensor y = ops::add(a, b);
                    m.out(y);
                    return [=](Schedule& s) { schedules::elementwise(s, s[y], {.unroll = 2, .stream = true}); };
                  },
                  {{{3, 4, 37}, {4, 37}}, {{1, 1, 64}, {1, 64}}, {{2, 0, 5}, {0, 5}}, {{2, 3, 0}, {3, 0}}}, {.emulated = true});
}

TEST_CASE("without dimensions nothing is left to do") {
  check_scheduled("scalar",
                  [](Maker& m) {
                    const Tensor y = ops::neg(m.in("x", f32, {}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
                  },
                  {{{}}});
}

TEST_CASE("lanes are those of the widest number that is computed with") {
  const auto program = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::cast(ops::scale(ops::cast(m.in("x", u8, {N}, ops_test::whole(0, 200)), f32), 0.5), u8);
    m.out(y);
    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
  };
  check_scheduled("bytes by floats", program, {{{100}}, {{3}}, {{0}}});
  const auto one = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor x = m.in("x", u8, {N}), y = compute("y", {N}, [&](Var i) { return u8(f32(x(i)) * 0.5); });
    m.out(y);
    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
  };
  const std::string text = text_of(one);
  CAPTURE(text);
  CHECK(text.find("for i0i in 8") != std::string::npos);
}

TEST_CASE("producers are inlined, or computed for a row") {
  check_scheduled("producers",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {M, N});
                    const Tensor a = compute("a", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
                    const Tensor b = compute("b", {M, N}, [&](Var i, Var j) { return exp(a(i, j)); });
                    const Tensor y = compute("y", {M, N}, [&](Var i, Var j) { return b(i, j) + b(i, N - 1 - j); });
                    m.out(y);
                    return [=](Schedule& s) { schedules::elementwise(s, s[y], {.inlined = {s[a]}, .at_row = {s[b]}}); };
                  },
                  {{{3, 37}}, {{1, 1}}, {{0, 4}}, {{2, 0}}}, {.emulated = true});
}

TEST_CASE("what is no elementwise stage is refused at the caller's line") {
  const auto sum = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::reduce_sum(m.in("x", f32, {N})).accumulated;
    m.out(y);
    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
  };
  CHECK(refused_schedule(sum) ==
        "elementwise_test.cpp: elementwise: expected a stage whose elements are computed each by itself, found reduce_sum, a "
        "reduction (schedules::rows, schedules::reduction)");
  const auto relu = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
  };
  CHECK(refused_schedule(relu, Target::parse("vulkan")) ==
        "elementwise_test.cpp: elementwise: expected a processor, whose loops run in lanes and on threads, found the target "
        "vulkan");
}
