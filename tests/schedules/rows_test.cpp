// Operators on rows: softmax, norms and places of extremes, over any number of rows of any length.
#include <ashlar/schedules/rows.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

const std::vector<std::vector<Dims>> shapes = {{{3, 150}}, {{2, 64}}, {{5, 7}}, {{1, 1}}, {{0, 5}}, {{3, 0}}};

std::vector<Dims> leading(const std::vector<Dims>& in) { return {Dims(in[0].begin(), in[0].end() - 1)}; }

}  // namespace

TEST_CASE("softmax, with its exponentials in the cache") {
  check_scheduled("softmax",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const auto y = ops::softmax(m.in("x", f32, {M, N}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); };
                  },
                  shapes, {.relative = 1e-6, .emulated = true});
}

TEST_CASE("rows one after the other, and three beside each other") {
  for (const int together : {1, 3})
    check_scheduled("softmax",
                    [together](Maker& m) {
                      const Symbol B{"B"}, M{"M"}, N{"N"};
                      const auto y = ops::softmax(m.in("x", f32, {B, M, N}));
                      m.out(y);
                      return [=](Schedule& s) {
                        schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]},
                                        {.accumulators = 2, .together = together});
                      };
                    },
                    {{{2, 7, 70}}, {{1, 3, 5}}, {{2, 0, 3}}}, {.relative = 1e-6});
}

TEST_CASE("log of softmax, over the last of three dimensions") {
  check_scheduled("log_softmax",
                  [](Maker& m) {
                    const Symbol A{"A"}, M{"M"}, N{"N"};
                    const auto y = ops::log_softmax(m.in("x", f32, {A, M, N}));
                    m.out(y);
                    return [=](Schedule& s) {
                      schedules::rows(s, {s[y.maximum], s[y.sum], s[y.result]}, {.unroll = 2, .stream = true});
                    };
                  },
                  {{{2, 3, 70}}, {{1, 2, 1}}, {{0, 2, 3}}}, {.relative = 1e-6, .absolute = 1e-6});
}

TEST_CASE("layer norm: two reductions, and the mean between them") {
  check_scheduled("layer_norm",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {M, N}), scale = m.in("scale", f32, {N}), shift = m.in("shift", f32, {N});
                    const auto y = ops::layer_norm(x, scale, shift);
                    m.out(y);
                    return [=](Schedule& s) {
                      schedules::rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]});
                    };
                  },
                  {{{3, 150}, {150}, {150}}, {{2, 7}, {7}, {7}}, {{1, 1}, {1}, {1}}, {{2, 0}, {0}, {0}}},
                  {.relative = 1e-5, .absolute = 1e-5});
}

TEST_CASE("a norm over two dimensions") {
  check_scheduled("layer_norm of two",
                  [](Maker& m) {
                    const Symbol M{"M"}, A{"A"}, B{"B"};
                    const auto y = ops::layer_norm(m.in("x", f32, {M, A, B}), Tensor(), Tensor(), 1e-5, 2);
                    m.out(y);
                    return [=](Schedule& s) {
                      schedules::rows(s, {s[y.sum], s[y.mean], s[y.deviations], s[y.inverse], s[y.result]});
                    };
                  },
                  {{{2, 3, 37}}, {{1, 2, 0}}}, {.relative = 1e-5, .absolute = 1e-5});
}

TEST_CASE("rms norm of narrow floats") {
  check_scheduled("rms_norm",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N", {.min = 1}};
                    const Tensor x = m.in("x", f16, {M, N}), scale = m.in("scale", f16, {N});
                    const auto y = ops::rms_norm(x, scale);
                    m.out(y);
                    return [=](Schedule& s) { schedules::rows(s, {s[y.sum], s[y.result]}); };
                  },
                  {{{2, 70}, {70}}, {{3, 1}, {1}}}, {.relative = 2e-3});
}

TEST_CASE("the place of the largest element: a result without the row") {
  check_scheduled("argmax",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const auto y = ops::argmax(m.in("x", f32, {M, N}, ops_test::whole(-3, 3)));
                    m.out(y.value), m.out(y.index);
                    return [=](Schedule& s) { schedules::rows(s, {s[y.index]}); };
                  },
                  shapes, {.emulated = true, .results = [](const auto& in) { return std::vector<Dims>(2, leading(in)[0]); }});
}

TEST_CASE("kept dimensions, a mean behind a sum, one row alone") {
  check_scheduled(
      "kept",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", i32, {M, N}, ops_test::whole(-9, 9));
        const auto sum = ops::reduce_sum(x, {.axes = {1}, .keep_dims = true});
        const Tensor y = ops::sub(x, sum);
        m.out(y);
        return [=](Schedule& s) { schedules::rows(s, {s[sum.accumulated], s[y]}); };
      },
      shapes);
  check_scheduled("mean",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const auto y = ops::reduce_mean(m.in("x", f32, {M, N}, ops_test::whole(-9, 9)), {.axes = {1}});
                    m.out(y);
                    return [=](Schedule& s) { schedules::rows(s, {s[y.accumulated], s[y.result]}); };
                  },
                  shapes, {.results = leading});
  check_scheduled("one row",
                  [](Maker& m) {
                    const Symbol N{"N"};
                    const auto y = ops::softmax(m.in("x", f32, {N}));
                    m.out(y);
                    return [=](Schedule& s) { schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]}); };
                  },
                  {{{150}}, {{1}}, {{0}}}, {.relative = 1e-6});
}

TEST_CASE("sums in the order of their terms keep it") {
  check_scheduled("strict",
                  [](Maker& m) {
                    const Symbol M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {M, N});
                    const Axis k{"k", x.extent(1)};
                    const Tensor total = compute("total", {M}, [&](Var i) { return strict_sum(x(i, k), k); });
                    const Tensor y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) / total(i); });
                    m.out(y);
                    return [=](Schedule& s) { schedules::rows(s, {s[total], s[y]}); };
                  },
                  {{{3, 70}}, {{2, 0}}});
}

TEST_CASE("what has no rows is refused") {
  const auto none = [](Maker& m) {
    const Symbol N{"N"};
    m.out(ops::relu(m.in("x", f32, {N})));
    return [=](Schedule& s) { schedules::rows(s, {}); };
  };
  CHECK(refused_schedule(none) == "rows_test.cpp: rows: expected at least one stage, the result as the last one, found none");
  const auto scatters = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::histogram(m.in("x", u8, {N, N}));
    m.out(y);
    return [=](Schedule& s) { schedules::rows(s, {s[y]}); };
  };
  CHECK(refused_schedule(scatters).find("rows: expected reductions and stages that compute each element by itself") !=
        std::string::npos);
  const auto many = [](Maker& m) {
    const Symbol N{"N"};
    const Tensor y = ops::relu(m.in("x", f32, {N}));
    m.out(y);
    return [=](Schedule& s) { schedules::rows(s, {s[y]}, {.dims = 2}); };
  };
  CHECK(refused_schedule(many).find("rows: expected at most the 1 dimensions of relu, found 2") != std::string::npos);
}
