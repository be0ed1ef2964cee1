// One large reduction: of everything, in parts; of rows; of columns.
#include <ashlar/schedules/reduction.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

std::vector<Dims> of_rows(const std::vector<Dims>& in) { return {{in[0][0]}}; }
std::vector<Dims> of_columns(const std::vector<Dims>& in) { return {{in[0][1]}}; }

}  // namespace

TEST_CASE("all elements of one dimension, in parallel parts") {
  check_scheduled("sum",
                  [](Maker& m) {
                    const Symbol N{"N"};
                    const Tensor y = ops::reduce_sum(m.in("x", f32, {N}, ops_test::whole(-9, 9))).accumulated;
                    m.out(y);
                    return [=](Schedule& s) { schedules::reduction(s, s[y], {.part = 256}); };
                  },
                  {{{1000}}, {{512}}, {{3}}, {{0}}},
                  {.emulated = true, .results = [](const auto&) { return std::vector<Dims>{{}}; }});
}

TEST_CASE("all elements of several dimensions, and a number of them that one part holds") {
  check_scheduled("sum of two",
                  [](Maker& m) {
                    const Symbol A{"A"}, B{"B"};
                    const Tensor y = ops::reduce_max(m.in("x", f32, {A, B}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::reduction(s, s[y], {.part = 512}); };
                  },
                  {{{7, 150}}, {{2, 1}}, {{0, 3}}, {{3, 0}}}, {.results = [](const auto&) { return std::vector<Dims>{{}}; }});
  check_scheduled("sum of a hundred",
                  [](Maker& m) {
                    const Tensor y = ops::reduce_sum(m.in("x", i32, {100}, ops_test::whole(-9, 9))).accumulated;
                    m.out(y);
                    return [=](Schedule& s) { schedules::reduction(s, s[y]); };
                  },
                  {{{100}}}, {.results = [](const auto&) { return std::vector<Dims>{{}}; }});
}

TEST_CASE("a result for each row") {
  check_scheduled("rows",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor y = ops::reduce_sum(m.in("x", f32, {M, N}, ops_test::whole(-9, 9)), {.axes = {1}}).accumulated;
                    m.out(y);
                    return [=](Schedule& s) { schedules::reduction(s, s[y]); };
                  },
                  {{{5, 300}}, {{1, 1}}, {{0, 3}}, {{3, 0}}}, {.emulated = true, .results = of_rows});
}

TEST_CASE("columns, whose results stay in registers") {
  check_scheduled("columns",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor y = ops::reduce_sum(m.in("x", f32, {M, N}, ops_test::whole(-9, 9)), {.axes = {0}}).accumulated;
                    m.out(y);
                    return [=](Schedule& s) { schedules::reduction(s, s[y]); };
                  },
                  {{{9, 150}}, {{5, 64}}, {{1, 1}}, {{0, 3}}, {{3, 0}}}, {.emulated = true, .results = of_columns});
}

TEST_CASE("an order that is kept") {
  check_scheduled("strict",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {M, N});
                    const Axis k{"k", x.extent(0)}, l{"l", x.extent(1)};
                    const Tensor y = compute("y", {M}, [&](Var i) { return strict_sum(x(i, l), l); });
                    const Tensor z = compute("z", {N}, [&](Var j) { return strict_sum(x(k, j), k); });
                    m.out(y), m.out(z);
                    return [=](Schedule& s) { schedules::reduction(s, s[y]), schedules::reduction(s, s[z]); };
                  },
                  {{{7, 40}}, {{1, 0}}}, {.results = [](const auto& in) { return std::vector<Dims>{{in[0][0]}, {in[0][1]}}; }});
}

TEST_CASE("what does not reduce is refused") {
  const auto relu = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::reduction(s, s[y]); };
  };
  CHECK(refused_schedule(relu) == "reduction_test.cpp: reduction: expected a stage that reduces, found relu, which does not");
}
