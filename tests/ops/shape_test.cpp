// Elements at other places: views, joins, repetition, padding; places that data choose, negative and outside.
#include "tests/ops/check.h"
#include "tests/ops/conv_loops.h"
#include "tests/ops/outside.h"

using namespace ops_test;

namespace {

// A tensor of another shape, its elements f(place).
Nd made(Dims shape, const std::function<double(const Dims&)>& f) {
  Nd r(std::move(shape));
  each(r.shape, [&](const Dims& i) { r.at(i) = f(i); });
  return r;
}
std::int64_t placed(double index, std::int64_t n) {
  auto i = static_cast<std::int64_t>(index);
  if (i < 0) i += n;
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

}  // namespace

TEST_CASE("views and copies") {
  check(
      "views",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N", {.multiple_of = 3}};
        const Tensor x = m.in("x", f32, {M, 4, N});
        m.out(ops::transpose(x, {2, 0, 1})), m.out(ops::transpose(x)), m.out(ops::reshape(x, {M * 2, 2, N}));
        m.out(ops::slice(x, 1, 1, 4, 2)), m.out(ops::flip(x, -1)), m.out(ops::roll(x, 2, 1)), m.out(ops::roll(x, -1));
        const auto parts = ops::split(x, 3, 2), pair = ops::split(x, {Expr(std::int64_t{1}), Expr(std::int64_t{3})}, 1);
        for (const Tensor& p : parts) m.out(p);
        m.out(ops::copy(pair[1]));
      },
      {{{{3, 4, 6}}}, {{{1, 4, 3}}}, {{{0, 4, 3}}}, {{{2, 4, 0}}}},
      [](const Inputs& in) {
        const Nd& x = in[0];
        const std::int64_t M = x.n(0), N = x.n(2), third = N / 3;
        Nd reshaped({M * 2, 2, N});
        reshaped.v = x.v;
        Results r{turned(x, {2, 0, 1}),
                  turned(x, {2, 1, 0}),
                  reshaped,
                  made({M, 2, N}, [&](const Dims& i) { return x(i[0], 1 + 2 * i[1], i[2]); }),
                  made(x.shape, [&](const Dims& i) { return x(i[0], i[1], N - 1 - i[2]); }),
                  made(x.shape, [&](const Dims& i) { return x(i[0], (i[1] + 2) % 4, i[2]); }),
                  made(x.shape, [&](const Dims& i) { return x(i[0], i[1], (i[2] + 1) % N); })};
        for (std::int64_t p = 0; p < 3; ++p)
          r.push_back(made({M, 4, third}, [&](const Dims& i) { return x(i[0], i[1], p * third + i[2]); }));
        r.push_back(made({M, 3, N}, [&](const Dims& i) { return x(i[0], 1 + i[1], i[2]); }));
        return r;
      },
      exact);
}

TEST_CASE("joins, repetition, triangles, blocks of pixels") {
  check(
      "joins",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, K{"K"};
        const Tensor a = m.in("a", f32, {M, N}), b = m.in("b", f32, {M, K}), c = m.in("c", f32, {M, 2}),
                     d = m.in("d", f32, {M, N});
        m.out(ops::concat({a, b, c}, -1)), m.out(ops::concat({a, d, a})), m.out(ops::stack({a, d, a}, 1)),
            m.out(ops::stack({a}, -1));
        m.out(ops::tile(a, {2, 3})), m.out(ops::repeat_interleave(a, 3)), m.out(ops::repeat_interleave(a, 2, 0));
        m.out(ops::triu(a)), m.out(ops::triu(a, 2)), m.out(ops::tril(a, -1));
        const Tensor p = m.in("p", f32, {M, 8, 2, K}), q = m.in("q", f32, {M, N, 4, 6});
        m.out(ops::pixel_shuffle(p, 2)), m.out(ops::pixel_unshuffle(q, 2));
      },
      {{{{3, 4}, {3, 5}, {3, 2}, {3, 4}, {3, 8, 2, 5}, {3, 4, 4, 6}}},
       {{{1, 1}, {1, 0}, {1, 2}, {1, 1}, {1, 8, 2, 0}, {1, 1, 4, 6}}},
       {{{0, 2}, {0, 1}, {0, 2}, {0, 2}, {0, 8, 2, 1}, {0, 2, 4, 6}}}},
      [](const Inputs& in) {
        const Nd &a = in[0], &b = in[1], &c = in[2], &d = in[3], &p = in[4], &q = in[5];
        const std::int64_t M = a.n(0), N = a.n(1), K = b.n(1);
        const auto keep = [&](auto f) { return made(a.shape, [&](const Dims& i) { return f(i[1] - i[0]) ? a.at(i) : 0; }); };
        return Results{made({M, N + K + 2},
                            [&](const Dims& i) {
                              return i[1] < N ? a(i[0], i[1]) : i[1] < N + K ? b(i[0], i[1] - N) : c(i[0], i[1] - N - K);
                            }),
                       made({3 * M, N}, [&](const Dims& i) { return i[0] / M == 1 ? d(i[0] - M, i[1]) : a(i[0] % M, i[1]); }),
                       made({M, 3, N}, [&](const Dims& i) { return i[1] == 1 ? d(i[0], i[2]) : a(i[0], i[2]); }),
                       made({M, N, 1}, [&](const Dims& i) { return a(i[0], i[1]); }),
                       made({2 * M, 3 * N}, [&](const Dims& i) { return a(i[0] % M, i[1] % N); }),
                       made({M, 3 * N}, [&](const Dims& i) { return a(i[0], i[1] / 3); }),
                       made({2 * M, N}, [&](const Dims& i) { return a(i[0] / 2, i[1]); }),
                       keep([](std::int64_t k) { return k >= 0; }),
                       keep([](std::int64_t k) { return k >= 2; }),
                       keep([](std::int64_t k) { return k <= -1; }),
                       made({M, 2, 4, 2 * K},
                            [&](const Dims& i) { return p(i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2); }),
                       made({M, 4 * N, 2, 3},
                            [&](const Dims& i) { return q(i[0], i[1] / 4, i[2] * 2 + i[1] / 2 % 2, i[3] * 2 + i[1] % 2); })};
      },
      exact);
}

TEST_CASE("padding, wider than the tensor too") {
  for (const ops::PadMode mode : {ops::PadMode::edge, ops::PadMode::reflect, ops::PadMode::symmetric, ops::PadMode::wrap}) {
    CAPTURE(static_cast<int>(mode));
    check(
        "pad by elements",
        [&](Maker& m) {
          const Symbol M{"M"}, N{"N", {.min = 1}};
          m.out(ops::pad(m.in("x", f32, {M, N}), {0, ops::Pad(3, 5)}, mode));
        },
        {{{{2, 6}}}, {{{1, 1}}}, {{{2, 2}}}, {{{0, 3}}}},
        [&](const Inputs& in) {
          const Nd& x = in[0];
          return Results{made({x.n(0), x.n(1) + 8}, [&](const Dims& i) { return x(i[0], outside(i[1] - 3, x.n(1), mode)); })};
        },
        exact);
  }
  check(
      "pad by a value",
      [&](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", i32, {M, N}, whole(0, 9));
        m.out(ops::pad(x, {ops::Pad(1, 0), 2}, ops::PadMode::constant, -7));
      },
      {{{{2, 6}}}, {{{0, 0}}}},
      [&](const Inputs& in) {
        const Nd& x = in[0];
        return Results{made({x.n(0) + 1, x.n(1) + 4}, [&](const Dims& i) {
          return i[0] < 1 || i[1] < 2 || i[1] >= x.n(1) + 2 ? -7 : x(i[0] - 1, i[1] - 2);
        })};
      },
      exact);
}

TEST_CASE("gather and embedding: places from the back, and outside") {
  check(
      "gather",
      [](Maker& m) {
        const Symbol A{"A"}, N{"N", {.min = 1}}, B{"B"}, L{"L"};
        const Tensor x = m.in("x", f32, {A, N, B}), i = m.in("index", i32, {L, 2}, whole(-9, 9)),
                     e = m.in("each", i64, {A, L, B}, whole(-9, 9)), u = m.in("unsigned", u8, {L}, whole(0, 200)),
                     t = m.in("table", f16, {N, B}), p = m.in("promised", i32, {L}, whole(0, 0));
        m.out(ops::gather(x, i, 1)), m.out(ops::gather_elements(x, e, -2)), m.out(ops::gather(x, u, 1));
        m.out(ops::embedding(t, i)), m.out(ops::embedding_bag(t, i)), m.out(ops::embedding(t, p, ops::Places::promised));
        m.out(ops::one_hot(i, 5)), m.out(ops::one_hot(u, N, i8, 3, -1));
      },
      {{{{2, 5, 3}, {4, 2}, {2, 4, 3}, {4}, {5, 3}, {4}}},
       {{{1, 1, 1}, {1, 2}, {1, 1, 1}, {1}, {1, 1}, {1}}},
       {{{2, 3, 2}, {0, 2}, {2, 0, 2}, {0}, {3, 2}, {0}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &i = in[1], &e = in[2], &u = in[3], &t = in[4];
        const std::int64_t n = x.n(1), L = i.n(0);
        return Results{made({x.n(0), L, 2, x.n(2)}, [&](const Dims& k) { return x(k[0], placed(i(k[1], k[2]), n), k[3]); }),
                       made(e.shape, [&](const Dims& k) { return x(k[0], placed(e.at(k), n), k[2]); }),
                       made({x.n(0), L, x.n(2)}, [&](const Dims& k) { return x(k[0], placed(u(k[1]), n), k[2]); }),
                       made({L, 2, t.n(1)}, [&](const Dims& k) { return t(placed(i(k[0], k[1]), n), k[2]); }),
                       made({L, t.n(1)},
                            [&](const Dims& k) {
                              return double(_Float16(t(placed(i(k[0], 0), n), k[1]) + t(placed(i(k[0], 1), n), k[1])));
                            }),
                       made({L, t.n(1)}, [&](const Dims& k) { return t(0, k[1]); }),
                       made({L, 2, 5}, [&](const Dims& k) { return i(k[0], k[1]) == static_cast<double>(k[2]) ? 1 : 0; }),
                       made({L, n}, [&](const Dims& k) { return u(k[0]) == static_cast<double>(k[1]) ? 3 : -1; })};
      },
      exact);
}

TEST_CASE("scatter: several updates of one element, places outside") {
  check(
      "scatter",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, L{"L", {.min = 1}};
        const Tensor x = m.in("x", i32, {M, N}, whole(-9, 9)), i = m.in("index", i32, {M, L}, whole(-8, 8)),
                     u = m.in("updates", i32, {M, L}, whole(-5, 5)), v = m.in("v", f32, {L}),
                     at = m.in("at", i64, {L}, whole(-3, 6)), y = m.in("y", f32, {N}), rows = m.in("rows", f32, {L, 3});
        for (const auto mode : {ops::ScatterMode::replace, ops::ScatterMode::add, ops::ScatterMode::multiply,
                                ops::ScatterMode::max, ops::ScatterMode::min})
          m.out(ops::scatter_elements(x, i, u, 1, mode));
        m.out(ops::scatter_elements(y, at, v)), m.out(ops::index_add(N, at, rows));
      },
      {{{{3, 6}, {3, 9}, {3, 9}, {9}, {9}, {6}, {9, 3}}},
       {{{1, 1}, {1, 1}, {1, 1}, {1}, {1}, {1}, {1, 3}}},
       {{{2, 0}, {2, 3}, {2, 3}, {3}, {3}, {0}, {3, 3}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &i = in[1], &u = in[2], &v = in[3], &at = in[4], &y = in[5], &rows = in[6];
        const std::int64_t N = x.n(1);
        const auto to = [&](double place) {  // -1: nowhere
          const auto k = static_cast<std::int64_t>(place);
          return k >= 0 && k < N ? k : k < 0 && k + N >= 0 ? k + N : -1;
        };
        Results r;
        for (int mode = 0; mode < 5; ++mode) {
          r.push_back(x);
          each(i.shape, [&](const Dims& k) {
            if (to(i.at(k)) < 0) return;
            double& e = r.back()(k[0], to(i.at(k)));
            const double g = u.at(k);
            e = mode == 0 ? g : mode == 1 ? e + g : mode == 2 ? e * g : mode == 3 ? std::fmax(e, g) : std::fmin(e, g);
          });
        }
        r.push_back(y), r.emplace_back(Dims{N, 3});
        for (std::int64_t k = 0; k < v.size(); ++k) {
          if (to(at[k]) < 0) continue;
          r[5][to(at[k])] = v[k];
          for (std::int64_t d = 0; d < 3; ++d) r[6](to(at[k]), d) += rows(k, d);
        }
        return r;
      },
      {1e-6, 1e-6, false, true});
}

TEST_CASE("places refuse") {
  const Symbol M{"M"}, N{"N"};
  CHECK(refusal_of([&] {
          (void)ops::concat({lang::make_input("p", f32, {M, 2}), lang::make_input("q", f32, {N, 2})}, 1);
        }).find("concat: expected parts[1] whose dimension 0 has the extent M, as parts[0] has, found N") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::gather(lang::make_input("p", f32, {M, 2}), lang::make_input("q", f32, {N}));
        }).find("gather: expected index of an integer type, found f32") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::embedding(lang::make_input("p", f32, {M, 2}), lang::make_input("q", f32, {N}));
        }).find("embedding: expected ids of an integer type, found f32") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::pad(lang::make_input("p", f32, {M, 2}), {1});
        }).find("pad: expected a padding for each of the 2 dimensions of x, found 1") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::split(lang::make_input("p", f32, {7}), 2);
        }).find("split: expected x whose dimension 0 is a multiple of 2, found 7") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::split(lang::make_input("p", f32, {2, M}), 2, 1);
        }).find("split: expected x whose dimension 1 is a multiple of 2, found M") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::pixel_shuffle(lang::make_input("p", f32, {1, 6, M, N}), 2);
        }).find("pixel_shuffle: expected x whose dimension 1 is a multiple of 4, found 6") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::pixel_unshuffle(lang::make_input("p", f32, {1, 6, 4, N}), 2);
        }).find("pixel_unshuffle: expected x whose dimension 3 is a multiple of 2, found N") != std::string::npos);
}
