// Windows: depthwise convolutions with channels in lanes and with pixels in lanes, separable filters with a ring of rows or
// computed again, a median of columns.
#include <ashlar/schedules/stencil.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

const auto as_image = [](const std::vector<Dims>& in) { return std::vector<Dims>{in[0]}; };

std::function<Steps(Maker&)> depthwise(ops::Layout layout, schedules::StencilOptions o) {
  return [layout, o](Maker& m) {
    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, C{"C"};
    const bool last = layout == ops::Layout::channels_last;
    const Tensor x =
        last ? m.in("x", f32, {2, H, W, C}, ops_test::whole(-9, 9)) : m.in("x", f32, {2, C, H, W}, ops_test::whole(-9, 9));
    const Tensor w =
        last ? m.in("w", f32, {3, 3, C, 1}, ops_test::whole(-9, 9)) : m.in("w", f32, {C, 1, 3, 3}, ops_test::whole(-9, 9));
    const auto y = ops::depthwise_conv2d(x, w, {}, {.padding = {1, 1}, .layout = layout});
    m.out(y);
    return [=](Schedule& s) { schedules::stencil(s, s[y.sum], o); };
  };
}

// Means of three across, then of three down, edges repeated.
enum class Across { ring, all_rows, again, registers };
std::function<Steps(Maker&)> blur(Type type, schedules::StencilOptions o, Across how) {
  return [=](Maker& m) {
    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
    const Tensor in = m.in("x", type, {H, W}, ops_test::whole(0, 80)), x = boundary::repeat(in);
    const Tensor across = compute("across", [&](Var i, Var j) { return (x(i, j - 1) + x(i, j) + x(i, j + 1)) / 3; });
    const Tensor y =
        compute("y", {H, W}, [&](Var i, Var j) { return (across(i - 1, j) + across(i, j) + across(i + 1, j)) / 3; });
    m.out(y);
    return [=](Schedule& s) {
      schedules::StencilOptions with = o;
      if (how == Across::ring) with.sliding = {{s[across], 4}};
      if (how == Across::all_rows) with.sliding = {{s[across]}};
      if (how == Across::again) with.inlined = {s[across]};
      if (how == Across::registers) with.in_registers = {{s[across], 3}}, with.prefetched = {in};
      schedules::stencil(s, s[y], with);
    };
  };
}

}  // namespace

TEST_CASE("depthwise, channels in lanes") {
  check_scheduled("channels last", depthwise(ops::Layout::channels_last, {.channels_last = true}),
                  {{{2, 5, 11, 35}, {3, 3, 35, 1}}, {{2, 1, 1, 16}, {3, 3, 16, 1}}, {{2, 2, 3, 0}, {3, 3, 0, 1}}},
                  {.emulated = true, .results = as_image});
  check_scheduled("strips",
                  depthwise(ops::Layout::channels_last, {.lanes = 4, .together = 3, .channels_last = true, .strip = 2}),
                  {{{2, 5, 7, 6}, {3, 3, 6, 1}}}, {.results = as_image});
}

TEST_CASE("depthwise, pixels in lanes, several rows together") {
  check_scheduled("channels first", depthwise(ops::Layout::channels_first, {.together = 2}),
                  {{{2, 3, 7, 37}, {3, 1, 3, 3}}, {{2, 1, 1, 1}, {1, 1, 3, 3}}, {{2, 0, 2, 2}, {0, 1, 3, 3}}},
                  {.results = as_image});
}

TEST_CASE("a separable filter: a ring of rows, all rows of a strip, computed again") {
  const std::vector<std::vector<Dims>> shapes = {{{21, 150}}, {{8, 64}}, {{1, 1}}, {{2, 3}}};
  check_scheduled("ring", blur(u16, {.strip = 8}, Across::ring), shapes, {.emulated = true});
  check_scheduled("ring in parts", blur(f32, {.strip = 8, .columns = 32, .stream = true}, Across::ring), shapes);
  check_scheduled("all rows", blur(u8, {.parallel = false}, Across::all_rows), shapes);
  check_scheduled("together", blur(u16, {.together = 4, .strip = 8}, Across::again), shapes);
  check_scheduled("registers", blur(u16, {.together = 4, .strip = 8, .stream = true}, Across::registers), shapes,
                  {.emulated = true});
  check_scheduled("registers in parts", blur(f32, {.lanes = 1, .together = 2, .columns = 4, .ahead = 2}, Across::registers),
                  {{{5, 9}}});
  check_scheduled("no strips", blur(f64, {.lanes = 1, .together = 2, .parallel = false}, Across::again), {{{5, 9}}});
}

TEST_CASE("columns that are sorted for each row, and a filter of the library") {
  check_scheduled("median",
                  [](Maker& m) {
                    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
                    const auto y = ops::median3x3(m.in("x", u8, {H, W}, ops_test::whole(0, 255)));
                    m.out(y);
                    return [=](Schedule& s) { schedules::stencil(s, s[y.result], {.strip = 8, .at_row = {s[y.low]}}); };
                  },
                  {{{11, 70}}, {{1, 1}}, {{3, 2}}});
  check_scheduled("gaussian",
                  [](Maker& m) {
                    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
                    const auto y = ops::gaussian_blur(m.in("x", f32, {H, W}), 1.0, 0, {.border = ops::PadMode::edge});
                    m.out(y);
                    return [=](Schedule& s) {
                      schedules::stencil(s, s[y.result], {.strip = 16, .sliding = {{s[y.stages[0]], 8}}});
                    };
                  },
                  {{{20, 40}}, {{1, 1}}});
}

TEST_CASE("what has no windows is refused") {
  const auto row = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::stencil(s, s[y]); };
  };
  CHECK(refused_schedule(row) ==
        "stencil_test.cpp: stencil: expected a stage of 2 dimensions or more, computed of windows, found relu of rank 1");
  const auto sums = [](Maker& m) {
    const Symbol M{"M"}, N{"N"};
    const Tensor x = m.in("x", f32, {M, N});
    const auto total = ops::reduce_sum(x, {.axes = {1}});
    const Tensor y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) - total.accumulated(i); });
    m.out(y);
    return [=](Schedule& s) { schedules::stencil(s, s[y], {.in_registers = {{s[total.accumulated]}}}); };
  };
  CHECK(
      refused_schedule(sums) ==
      "stencil_test.cpp: stencil: expected stages in registers that compute each element of two dimensions or more by itself, "
      "found reduce_sum");
  const auto none = blur(u16, {.ahead = -1}, Across::registers);
  CHECK(refused_schedule(none) == "stencil_test.cpp: stencil: expected ahead of at least 0, found -1");
  CHECK(refused_schedule(blur(u16, {.together = 2}, Across::ring)) ==
        "stencil_test.cpp: stencil: expected one row at a time above stages that slide (the last rows of a strip would leave a "
        "gap), found 2 together");
}
