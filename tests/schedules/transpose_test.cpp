// Transpositions by tiles in registers: any extents, dimensions before and between, types of several widths.
#include <ashlar/schedules/transpose.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

Steps of_two(Maker& m, Type type, const schedules::TransposeOptions& o) {
  const Symbol M{"M"}, N{"N"};
  const Tensor x = m.in("x", type, {M, N}, ops_test::whole(0, 100));
  const Tensor y = compute("y", {N, M}, [&](Var i, Var j) { return x(j, i); });
  m.out(y);
  return [=](Schedule& s) { schedules::transpose(s, s[y], x, o); };
}
std::vector<Dims> turned(const std::vector<Dims>& in) { return {{in[0][1], in[0][0]}}; }

}  // namespace

TEST_CASE("two dimensions, whole tiles and parts of them") {
  check_scheduled("transpose", [](Maker& m) { return of_two(m, f32, {}); },
                  {{{35, 50}}, {{16, 32}}, {{1, 40}}, {{3, 1}}, {{0, 4}}, {{5, 0}}}, {.emulated = true, .results = turned});
  check_scheduled("past the caches", [](Maker& m) { return of_two(m, f32, {.stream = true}); }, {{{35, 50}}, {{32, 16}}},
                  {.results = turned});
}

TEST_CASE("bytes and doubles, tiles of a given size") {
  check_scheduled("bytes", [](Maker& m) { return of_two(m, u8, {}); }, {{{35, 50}}, {{1, 1}}}, {.results = turned});
  check_scheduled("doubles",
                  [](Maker& m) { return of_two(m, f64, {.tile = 4, .tiles_i = 1, .tiles_j = 2, .parallel = false}); },
                  {{{9, 13}}}, {.results = turned});
}

TEST_CASE("dimensions before the two, and between them") {
  check_scheduled("batches",
                  [](Maker& m) {
                    const Symbol B{"B"}, M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {B, M, N});
                    const Tensor y = compute("y", {B, N, M}, [&](Var b, Var i, Var j) { return x(b, j, i); });
                    m.out(y);
                    return [=](Schedule& s) { schedules::transpose(s, s[y], x); };
                  },
                  {{{2, 18, 35}}, {{3, 1, 1}}, {{0, 2, 2}}, {{2, 0, 3}}},
                  {.results = [](const auto& in) { return std::vector<Dims>{{in[0][0], in[0][2], in[0][1]}}; }});
  check_scheduled("heads",
                  [](Maker& m) {
                    const Symbol B{"B"}, M{"M"}, N{"N"};
                    const Tensor x = m.in("x", f32, {B, M, N});
                    const Tensor y = compute("y", {N, B, M}, [&](Var i, Var b, Var j) { return x(b, j, i); });
                    m.out(y);
                    return [=](Schedule& s) { schedules::transpose(s, s[y], x); };
                  },
                  {{{3, 18, 35}}, {{1, 1, 4}}},
                  {.results = [](const auto& in) { return std::vector<Dims>{{in[0][2], in[0][0], in[0][1]}}; }});
}

TEST_CASE("what is no transposition is refused") {
  const auto copy = [](Maker& m) {
    const Symbol M{"M"}, N{"N"};
    const Tensor x = m.in("x", f32, {M, N});
    const Tensor y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j); });
    m.out(y);
    return [=](Schedule& s) { schedules::transpose(s, s[y], x); };
  };
  CHECK(refused_schedule(copy) ==
        "transpose_test.cpp: transpose: expected a stage that copies the elements of one tensor to other places, y(i, j) = "
        "x(j, i), "
        "found y, whose neighbors are neighbors there (schedules::elementwise)");
  const auto twice = [](Maker& m) {
    const Symbol M{"M"}, N{"N"};
    const Tensor x = m.in("x", f32, {M, N});
    const Tensor y = compute("y", {N, M}, [&](Var i, Var j) { return x(j, i) * 2; });
    m.out(y);
    return [=](Schedule& s) { schedules::transpose(s, s[y], x); };
  };
  CHECK(refused_schedule(twice).find("found y, which computes") != std::string::npos);
}
