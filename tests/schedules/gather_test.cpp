// Rows of tables, single elements, sums of rows; histograms and rows that are added to.
#include <ashlar/schedules/gather.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

std::vector<Dims> rows_of(const std::vector<Dims>& in) { return {{in[1][0], in[0][1]}}; }

}  // namespace

TEST_CASE("rows of a table, by numbers of two dimensions") {
  check_scheduled(
      "embedding",
      [](Maker& m) {
        const Symbol V{"V", {.min = 1}}, D{"D"}, B{"B"}, T{"T"};
        const Tensor table = m.in("table", f32, {V, D}), ids = m.in("ids", i32, {B, T}, ops_test::whole(-9, 9));
        const Tensor y = ops::embedding(table, ids);
        m.out(y);
        return [=](Schedule& s) { schedules::gather(s, s[y], {.unroll = 2}); };
      },
      {{{7, 70}, {2, 3}}, {{1, 1}, {1, 1}}, {{5, 0}, {2, 2}}, {{5, 3}, {0, 2}}},
      {.emulated = true, .results = [](const auto& in) { return std::vector<Dims>{{in[1][0], in[1][1], in[0][1]}}; }});
}

TEST_CASE("single elements along a row") {
  check_scheduled("gather_elements",
                  [](Maker& m) {
                    const Symbol M{"M"}, V{"V", {.min = 1}}, N{"N"};
                    const Tensor x = m.in("x", f32, {M, V}), at = m.in("at", i64, {M, N}, ops_test::whole(-40, 40));
                    const Tensor y = ops::gather_elements(x, at, 1);
                    m.out(y);
                    return [=](Schedule& s) { schedules::gather(s, s[y]); };
                  },
                  {{{3, 21}, {3, 37}}, {{1, 1}, {1, 1}}, {{0, 2}, {0, 5}}},
                  {.results = [](const auto& in) { return std::vector<Dims>{in[1]}; }});
}

TEST_CASE("sums of rows stay in registers") {
  check_scheduled("embedding_bag",
                  [](Maker& m) {
                    const Symbol V{"V", {.min = 1}}, D{"D"}, B{"B"}, L{"L"};
                    const Tensor table = m.in("table", f32, {V, D}, ops_test::whole(-9, 9));
                    const auto y = ops::embedding_bag(table, m.in("ids", i32, {B, L}, ops_test::whole(0, 6)));
                    m.out(y);
                    return [=](Schedule& s) { schedules::gather(s, s[y.sum]); };
                  },
                  {{{7, 70}, {3, 5}}, {{1, 1}, {1, 0}}, {{2, 64}, {0, 3}}}, {.emulated = true, .results = rows_of});
}

TEST_CASE("a histogram, in parts of the picture") {
  check_scheduled("histogram",
                  [](Maker& m) {
                    const Symbol H{"H"}, W{"W"};
                    const Tensor y = ops::histogram(m.in("x", u8, {H, W}, ops_test::whole(0, 255)));
                    m.out(y);
                    return [=](Schedule& s) { schedules::scatter_add(s, s[y], {.parts = 3}); };
                  },
                  {{{20, 31}}, {{2, 5}}, {{0, 4}}, {{4, 0}}},
                  {.emulated = true, .results = [](const auto&) { return std::vector<Dims>{{256}}; }});
}

TEST_CASE("rows that are added to, in lanes") {
  check_scheduled("index_add",
                  [](Maker& m) {
                    const Symbol N{"N"}, D{"D"};
                    const Tensor at = m.in("at", i32, {N}, ops_test::whole(-6, 6));
                    const Tensor y = ops::index_add(ir::index(5), at, m.in("updates", f32, {N, D}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::scatter_add(s, s[y]); };
                  },
                  {{{9}, {9, 150}}, {{4}, {4, 1}}, {{0}, {0, 7}}, {{3}, {3, 0}}},
                  {.emulated = true, .results = [](const auto& in) { return std::vector<Dims>{{5, in[1][1]}}; }});
}

TEST_CASE("the largest of each bin, and steps in their order") {
  for (const int parts : {4, 1})
    check_scheduled(
        "largest",
        [parts](Maker& m) {
          const Symbol N{"N"};
          const Tensor at = m.in("at", u8, {N}, ops_test::whole(0, 9)), x = m.in("x", f32, {N});
          const Tensor y = scatter("largest", {256}, Combine::max, -100.0f, {N}, [&](Var i) { return put(x(i), at(i)); });
          m.out(y);
          return [=](Schedule& s) { schedules::scatter_add(s, s[y], {.parts = parts}); };
        },
        {{{100}, {100}}, {{1}, {1}}, {{0}, {0}}}, {.results = [](const auto&) { return std::vector<Dims>{{256}}; }});
}

TEST_CASE("what data choose no place of is refused") {
  const auto relu = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::gather(s, s[y]); };
  };
  CHECK(
      refused_schedule(relu) ==
      "gather_test.cpp: gather: expected a stage that reads at places which data choose, found relu, whose indices are of its "
      "loops alone");
  const auto counts = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::histogram(m.in("x", u8, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::gather(s, s[y]); };
  };
  CHECK(refused_schedule(counts).find("found histogram, a scatter (schedules::scatter_add)") != std::string::npos);
  const auto copy = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::scatter_add(s, s[y]); };
  };
  CHECK(refused_schedule(copy) ==
        "gather_test.cpp: scatter_add: expected a scatter, found relu, which changes each element at its own place");
}
