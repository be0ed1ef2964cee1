// Order, random numbers and losses.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/ops/check.h"

using namespace ops_test;

namespace {

// The places of a row in the order of `before`, which of equals leaves the first in front.
std::vector<std::size_t> order(const std::vector<double>& v, bool descending) {
  std::vector<std::size_t> at(v.size());
  std::iota(at.begin(), at.end(), 0u);
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(at.begin(), at.end(),
                   [&](std::size_t p, std::size_t q) { return descending ? less(v[q], v[p]) : less(v[p], v[q]); });
  return at;
}
// Along dimension d: f gets a row, and gives one.
Nd along(const Nd& x, int d, std::int64_t extent, const std::function<std::vector<double>(const std::vector<double>&)>& f) {
  Dims shape = x.shape, rest = x.shape;
  shape[static_cast<std::size_t>(d)] = extent, rest[static_cast<std::size_t>(d)] = 1;
  Nd y(shape);
  each(rest, [&](Dims i) {
    std::vector<double> row;
    for (std::int64_t k = 0; k < x.n(d); ++k) i[static_cast<std::size_t>(d)] = k, row.push_back(x.at(i));
    const auto made = f(row);
    for (std::int64_t k = 0; k < extent; ++k) i[static_cast<std::size_t>(d)] = k, y.at(i) = made[static_cast<std::size_t>(k)];
  });
  return y;
}
Nd sorted(const Nd& x, int d, bool descending, bool places, std::int64_t first = -1) {
  return along(x, d, first < 0 ? x.n(d) : first, [&](const std::vector<double>& row) {
    std::vector<double> r;
    for (const std::size_t k : order(row, descending)) r.push_back(places ? static_cast<double>(k) : row[k]);
    return r;
  });
}
Nd running(const Nd& x, int d, double start, bool exclusive, bool reverse, const std::function<double(double, double)>& f) {
  return along(x, d, x.n(d), [&](std::vector<double> row) {
    if (reverse) std::reverse(row.begin(), row.end());
    double total = start;
    for (double& e : row) {
      const double before = total;
      total = f(total, e);
      e = exclusive ? before : total;
    }
    if (reverse) std::reverse(row.begin(), row.end());
    return row;
  });
}

}  // namespace

TEST_CASE("sort: ties, NaN, both ways, any axis") {
  const auto reference = [](const Inputs& in) {
    const Nd &x = in[0], &b = in[1];
    return Results{sorted(x, 1, false, false), sorted(x, 1, false, true), sorted(x, 0, true, false), sorted(x, 0, true, true),
                   sorted(b, 1, true, false)};
  };
  for (const bool edge : {false, true})
    check(edge ? "sort edges" : "sort",
          [&](Maker& m) {
            const Symbol M{"M"}, N{"N"};
            const Tensor x = m.in("x", f32, {M, N}, edge ? edges() : whole(-3, 3)), b = m.in("b", u8, {M, N}, whole(0, 255));
            const auto up = ops::sort(x), down = ops::sort(x, 0, true);
            m.out(up.result), m.out(up.index), m.out(down), m.out(ops::argsort(x, 0, true)), m.out(ops::sort(b, 1, true));
          },
          {{{{5, 17}, {5, 17}}}, {{{1, 1}, {1, 1}}}, {{{3, 0}, {3, 0}}}, {{{0, 3}, {0, 3}}}}, reference, {0, 0, false, edge});
}

TEST_CASE("sort by a network: ties, NaN, both ways, any axis, extents that are no powers of two") {
  const auto reference = [](const Inputs& in) {
    const Nd &x = in[0], &b = in[1];
    return Results{sorted(x, 1, false, false), sorted(x, 1, false, true), sorted(x, 0, true, false), sorted(x, 0, true, true),
                   sorted(b, 1, true, false)};
  };
  for (const bool edge : {false, true})
    check(edge ? "sort by network edges" : "sort by network",
          [&](Maker& m) {
            const Tensor x = m.in("x", f32, {5, 17}, edge ? edges() : whole(-3, 3)), b = m.in("b", u8, {1, 33}, whole(0, 255));
            const auto up = ops::sort(x, 1, false, ops::SortBy::network), down = ops::sort(x, 0, true, ops::SortBy::network);
            m.out(up.result), m.out(up.index), m.out(down), m.out(ops::argsort(x, 0, true, ops::SortBy::network));
            m.out(ops::sort(b, 1, true, ops::SortBy::network));
          },
          {{{{5, 17}, {1, 33}}}}, reference, {0, 0, false, edge});
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  CHECK(
      refused([&] {
        (void)ops::sort(lang::make_input("p", f32, {N}), 0, false, ops::SortBy::network);
      }).find("sort: expected an extent that is a number of 1 to 16384 for a network (SortBy::counting takes all), found N") !=
      std::string::npos);
  CHECK(refused([&] {
          (void)ops::sort(lang::make_input("p", f64, {8}), 0, false, ops::SortBy::network);
        }).find("sort: expected x of numbers of at most 32 bits for a network") != std::string::npos);
}

TEST_CASE("the k largest and smallest, with their places") {
  check(
      "topk",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N", {.min = 3, .max = 2147483647}};
        const Tensor x = m.in("x", f32, {M, N}, edges()), h = m.in("h", f16, {N, M}, whole(-4, 4)),
                     i = m.in("i", i32, {M, N}, whole(-5, 5)), u = m.in("u", u32, {M, N}, whole(0, 4294967295));
        const auto a = ops::topk(x, 3), b = ops::topk(x, 2, 1, false), c = ops::topk(h, 1, 0, true, i32),
                   d = ops::topk(i, 3, -1, false), e = ops::topk(u, 2);
        m.out(a.result), m.out(a.index), m.out(b.result), m.out(b.index), m.out(c), m.out(c.index), m.out(d), m.out(d.index),
            m.out(e);
      },
      {{{{4, 21}, {21, 4}, {4, 21}, {4, 21}}}, {{{1, 3}, {3, 1}, {1, 3}, {1, 3}}}, {{{0, 5}, {5, 0}, {0, 5}, {0, 5}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &h = in[1], &i = in[2], &u = in[3];
        return Results{sorted(x, 1, true, false, 3),  sorted(x, 1, true, true, 3),  sorted(x, 1, false, false, 2),
                       sorted(x, 1, false, true, 2),  sorted(h, 0, true, false, 1), sorted(h, 0, true, true, 1),
                       sorted(i, 1, false, false, 3), sorted(i, 1, false, true, 3), sorted(u, 1, true, false, 2)};
      },
      exact);
}

TEST_CASE("running sums, products and extremes") {
  check(
      "cumulative",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", i32, {M, N}, whole(-3, 3)), b = m.in("b", i8, {M, N}, whole(-128, 127)),
                     f = m.in("f", f32, {M, N}), h = m.in("h", f16, {M, N}, whole(0, 3));
        m.out(ops::cumsum(x)), m.out(ops::cumsum(b, 0, {.exclusive = true})),
            m.out(ops::cumsum(x, 1, {.exclusive = true, .reverse = true}));
        m.out(ops::cumprod(x, 0)), m.out(ops::cummax(f)), m.out(ops::cummin(f, 0, {.reverse = true})), m.out(ops::cumsum(h));
      },
      {{{{4, 19}, {4, 19}, {4, 19}, {4, 19}}}, {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}}, {{{2, 0}, {2, 0}, {2, 0}, {2, 0}}}},
      [](const Inputs& in) {
        const auto add = [](double a, double e) { return a + e; };
        return Results{running(in[0], 1, 0, false, false, add),
                       running(in[1], 0, 0, true, false, add),
                       running(in[0], 1, 0, true, true, add),
                       running(in[0], 0, 1, false, false, [](double a, double e) { return a * e; }),
                       running(in[2], 1, -INFINITY, false, false, [](double a, double e) { return std::fmax(a, e); }),
                       running(in[2], 0, INFINITY, false, true, [](double a, double e) { return std::fmin(a, e); }),
                       running(in[3], 1, 0, false, false, add)};
      },
      {0, 0, false, true});
}

namespace {
// Philox 4x32-10, from its paper.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int r = 0; r < 10; ++r) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * c[0], q = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p)};
    k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
  }
  return c;
}
std::uint32_t word(std::int64_t element, std::uint64_t seed, std::uint64_t offset, std::uint32_t stream) {
  const std::uint64_t block = offset + static_cast<std::uint64_t>(element / 4);
  return philox(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), stream, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[static_cast<std::size_t>(element % 4)];
}
}  // namespace

TEST_CASE("Philox: the answers that its authors publish") {
  struct Known {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> words;
  };
  for (const Known& k : {Known{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                         {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                          {0xffffffff, 0xffffffff},
                          {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                         {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          {0xa4093822, 0x299f31d0},
                          {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}) {
    CHECK(philox(k.counter, k.key) == k.words);
    std::array<Expr, 4> c;
    for (std::size_t w = 0; w < 4; ++w) c[w] = Expr(k.counter[w]);
    const auto words = ops::philox4x32(c, {Expr(k.key[0]), Expr(k.key[1])});
    lang::DefinitionScope scope;
    const Tensor out = lang::make_output("out", u32, {4});
    lang::bind(out, compute("words", {4}, [&](Var i) {
                 return select(i == 0, words[0], select(i == 1, words[1], select(i == 2, words[2], words[3])));
               }));
    interp::Arguments a{interp::Array::zeros(u32, {4})};
    interp::run_algorithm(lang::build_program("known", {out}).program, a);
    for (std::size_t w = 0; w < 4; ++w) CHECK(a[0].array.integer({static_cast<std::int64_t>(w)}) == k.words[w]);
  }
}

TEST_CASE("random numbers: a function of seed and place") {
  const std::uint64_t seed = 0x123456789abcull;
  check(
      "random",
      [&](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", f32, {M, N});
        const Expr offset = m.scalar("offset", u64);
        const ops::RandomOptions o{.seed = seed, .offset = offset, .stream = 3};
        m.out(ops::random_bits(x.shape(), o)), m.out(ops::random_uniform(x.shape(), -1, 3, o)),
            m.out(ops::random_normal(x.shape(), 0.5, 2, o));
        const auto d = ops::dropout(x, 0.25, o);
        m.out(d.mask), m.out(d.result);
      },
      {{{{3, 7}}, {0}}, {{{1, 1}}, {5}}, {{{20, 50}}, {4294967295.0}}, {{{2, 0}}, {1}}},
      [&](const Inputs& in) {
        const auto offset = static_cast<std::uint64_t>(in[1][0]);
        Nd bits = in[0], uniform = in[0], normal = in[0], mask = in[0], kept = in[0];
        for (std::int64_t e = 0; e < bits.size(); ++e) {
          const std::uint32_t w = word(e, seed, offset, 3), u = word(e / 2 * 2, seed, offset, 3),
                              v = word(e / 2 * 2 + 1, seed, offset, 3);
          const double radius = std::sqrt(-2 * std::log(((u >> 8) + 1) * 0x1p-24)), angle = 2 * M_PI * (v >> 8) * 0x1p-24;
          bits[e] = w, uniform[e] = -1 + 4 * ((w >> 8) * 0x1p-24);
          normal[e] = 0.5 + 2 * radius * (e % 2 ? std::sin(angle) : std::cos(angle));
          mask[e] = (w >> 8) * 0x1p-24 >= 0.25, kept[e] = mask[e] * in[0][e] / 0.75;
        }
        return Results{bits, uniform, normal, mask, kept};
      },
      {1e-6, 3e-6});
}

TEST_CASE("losses") {
  check(
      "losses",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", f32, {M, N}), t = m.in("t", f32, {M, N}),
                     p = m.in("p", f32, {M, N},
                              [](std::uint64_t r, std::int64_t) { return static_cast<double>(r >> 20 & 31) / 31; }),
                     q = m.in("q", f32, {M, N}, whole(0, 1));
        m.out(ops::mse_loss(x, t)), m.out(ops::mse_loss(x, t, ops::LossReduction::none)),
            m.out(ops::l1_loss(x, t, ops::LossReduction::sum));
        m.out(ops::huber_loss(x, t, 0.75)), m.out(ops::binary_cross_entropy(p, q)),
            m.out(ops::binary_cross_entropy_with_logits(x, q));
        m.out(ops::kl_divergence(x, p)), m.out(ops::hinge_loss(x, t)), m.out(ops::cosine_similarity(x, t));
      },
      {{{{4, 9}, {4, 9}, {4, 9}, {4, 9}}}, {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}}, {{{2, 0}, {2, 0}, {2, 0}, {2, 0}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &t = in[1], &p = in[2], &q = in[3];
        const auto total = [](const Nd& a, const Nd& b, bool mean, const std::function<double(double, double)>& f) {
          double s = 0;
          for (std::int64_t k = 0; k < a.size(); ++k) s += f(a[k], b[k]);
          return Nd({}, mean ? s / static_cast<double>(a.size()) : s);
        };
        Nd squares = x, similar({x.n(0)});
        for (std::int64_t k = 0; k < x.size(); ++k) squares[k] = (x[k] - t[k]) * (x[k] - t[k]);
        for (std::int64_t i = 0; i < x.n(0); ++i) {
          double dot = 0, a = 0, b = 0;
          for (std::int64_t j = 0; j < x.n(1); ++j) dot += x(i, j) * t(i, j), a += x(i, j) * x(i, j), b += t(i, j) * t(i, j);
          similar(i) = dot / (std::fmax(std::sqrt(a), 1e-8) * std::fmax(std::sqrt(b), 1e-8));
        }
        return Results{total(x, t, true, [](double a, double b) { return (a - b) * (a - b); }),
                       squares,
                       total(x, t, false, [](double a, double b) { return std::fabs(a - b); }),
                       total(x, t, true,
                             [](double a, double b) {
                               return std::fabs(a - b) <= 0.75 ? (a - b) * (a - b) / 2 : 0.75 * (std::fabs(a - b) - 0.375);
                             }),
                       total(p, q, true,
                             [](double a, double b) {
                               return -(b * std::fmax(std::log(a), -100) + (1 - b) * std::fmax(std::log(1 - a), -100));
                             }),
                       total(x, q, true,
                             [](double a, double b) {
                               return -(b * std::log(1 / (1 + std::exp(-a))) + (1 - b) * std::log(1 / (1 + std::exp(a))));
                             }),
                       total(x, p, true, [](double a, double b) { return b > 0 ? b * (std::log(b) - a) : 0; }),
                       total(x, t, true, [](double a, double b) { return std::fmax(0, 1 - a * b); }),
                       similar};
      },
      {3e-6, 3e-6});
}

TEST_CASE("cross entropy: labels that do not count, smoothing") {
  check(
      "cross entropy",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C", {.min = 1}};
        const Tensor x = m.in("x", f32, {N, C}, between(-8, 8)), l = m.in("l", i64, {N}, [](std::uint64_t r, std::int64_t) {
          return r % 5 == 0 ? -100 : static_cast<double>(r >> 9 & 1);
        });
        m.out(ops::cross_entropy(x, l)), m.out(ops::cross_entropy(x, l, {.reduction = ops::LossReduction::none}));
        m.out(ops::cross_entropy(x, l, {.reduction = ops::LossReduction::sum, .ignore = 1, .smoothing = 0.125}));
      },
      {{{{12, 7}, {12}}}, {{{1, 2}, {1}}}, {{{0, 3}, {0}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &l = in[1];
        Nd terms({x.n(0)});
        double sum = 0, count = 0, smooth = 0;
        for (std::int64_t n = 0; n < x.n(0); ++n) {
          double lse = 0, all = 0;
          for (std::int64_t c = 0; c < x.n(1); ++c) lse += std::exp(x(n, c));
          lse = std::log(lse);
          for (std::int64_t c = 0; c < x.n(1); ++c) all += x(n, c) - lse;
          const auto label = static_cast<std::int64_t>(l(n));
          if (label != -100) terms(n) = lse - x(n, label), sum += terms(n), ++count;
          if (label != 1) smooth -= 0.875 * (x(n, label < 0 ? 0 : label) - lse) + 0.125 / static_cast<double>(x.n(1)) * all;
        }
        return Results{Nd({}, sum / count), terms, Nd({}, smooth)};
      },
      {3e-6, 3e-6, false, true});
}

TEST_CASE("order, chance and loss refuse") {
  const Symbol M{"M"}, N{"N"};
  CHECK(refusal_of([&] {
          (void)ops::topk(lang::make_input("p", f64, {M, N}), 2);
        }).find("topk: expected x of numbers of at most 32 bits, found f64") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::topk(lang::make_input("p", f32, {3}), 4);
        }).find("topk: expected x whose dimension 0 has at least 4 elements, found 3") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::dropout(lang::make_input("p", f32, {3}), 1);
        }).find("dropout: expected p from 0 to less than 1") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::mse_loss(lang::make_input("p", f32, {M, N}), lang::make_input("t", f32, {N, M}));
        }).find("mse_loss: expected target whose dimension 0 has the extent M, as prediction has, found N") !=
        std::string::npos);
}
