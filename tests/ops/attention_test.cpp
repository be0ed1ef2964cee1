// Attention and rotary embeddings, recurrent cells and layers, beside loops in double.
#include "tests/ops/check.h"

using namespace ops_test;

namespace {

struct Seen {
  std::function<bool(std::int64_t i, std::int64_t j, std::int64_t M, std::int64_t N)> sees = [](auto...) { return true; };
  std::int64_t groups = 1;
  double scale = 0;
};
Nd attend(const Nd& q, const Nd& k, const Nd& v, const Seen& s, const Nd* mask = nullptr) {
  const std::int64_t M = q.n(2), N = k.n(2), D = q.n(3), E = v.n(3);
  Nd y({q.n(0), q.n(1), M, E});
  each({q.n(0), q.n(1), M}, [&](const Dims& at) {
    const std::int64_t b = at[0], h = at[1], i = at[2];
    std::vector<double> w(static_cast<std::size_t>(N), 0);
    double top = -INFINITY, total = 0;
    for (std::int64_t j = 0; j < N; ++j) {
      double& e = w[static_cast<std::size_t>(j)];
      for (std::int64_t d = 0; d < D; ++d) e += q(b, h, i, d) * k(b, h / s.groups, j, d);
      e = e * (s.scale != 0 ? s.scale : 1 / std::sqrt(static_cast<double>(D))) + (mask ? (*mask)(i, j) : 0);
      if (!s.sees(i, j, M, N)) e = -INFINITY;
      top = std::fmax(top, e);
    }
    for (double& e : w) total += e = std::isinf(e) ? 0 : std::exp(e - top);
    for (std::int64_t c = 0; c < E && total > 0; ++c)
      for (std::int64_t j = 0; j < N; ++j) y(b, h, i, c) += w[static_cast<std::size_t>(j)] * v(b, h / s.groups, j, c) / total;
  });
  return y;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("attention: plain, causal, in a window, masked, of grouped queries, in one pass") {
  const auto first = [](std::int64_t i, std::int64_t j, auto, auto) { return j <= i; };
  const auto last = [](std::int64_t i, std::int64_t j, std::int64_t M, std::int64_t N) { return j <= i + N - M; };
  const auto window = [](std::int64_t i, std::int64_t j, std::int64_t M, std::int64_t N) {
    return j <= i + N - M && j > i + N - M - 3;
  };
  const std::vector<Run> runs{{{{2, 4, 5, 6}, {2, 2, 7, 6}, {2, 2, 7, 3}, {5, 7}}},
                              {{{1, 2, 6, 1}, {1, 1, 4, 1}, {1, 1, 4, 1}, {6, 4}}},
                              {{{1, 2, 2, 3}, {1, 1, 0, 3}, {1, 1, 0, 2}, {2, 0}}},
                              {{{0, 2, 2, 3}, {0, 1, 1, 3}, {0, 1, 1, 2}, {2, 1}}}};
  for (const bool online : {false, true})
    check(
        online ? "online attention" : "attention",
        [&](Maker& m) {
          const Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"}, D{"D", {.min = 1}}, E{"E"};
          const Tensor q = m.in("q", f32, {B, H * 2, M, D}), k = m.in("k", f32, {B, H, N, D}), v = m.in("v", f32, {B, H, N, E}),
                       mask = m.in("mask", f32, {M, N}, falls_to(-INFINITY, 3));
          const auto out = [&](const ops::AttentionOptions& o, const Tensor& with = Tensor()) {
            if (online) return m.out(ops::attention_online(q, k, v, o, with));
            m.out(ops::attention(q, k, v, o, with));
          };
          out({.groups = 2, .scale = 0.7}), out({.causal = ops::Causal::first, .groups = 2});
          out({.causal = ops::Causal::last, .groups = 2}), out({.causal = ops::Causal::last, .groups = 2, .window = 3});
          out({.groups = 2}, mask), out({.groups = 2}, ops::greater(mask, ops::scale(mask, 0.5)));
          out({.causal = ops::Causal::last, .groups = 2, .finite = true});
        },
        runs,
        [&](const Inputs& in) {
          const Nd &q = in[0], &k = in[1], &v = in[2], &mask = in[3];
          const auto seen = [&](std::int64_t i, std::int64_t j, auto, auto) { return mask(i, j) > mask(i, j) * 0.5; };
          return Results{attend(q, k, v, {.groups = 2, .scale = 0.7}),
                         attend(q, k, v, {first, 2}),
                         attend(q, k, v, {last, 2}),
                         attend(q, k, v, {window, 2}),
                         attend(q, k, v, {.groups = 2}, &mask),
                         attend(q, k, v, {seen, 2}),
                         attend(q, k, v, {last, 2})};
        },
        {3e-6, 3e-6, false, !online});
  check(
      "attention of f16",
      [](Maker& m) {
        const Symbol M{"M"};
        const Tensor q = m.in("q", f16, {1, 2, M, 8}), k = m.in("k", f16, {1, 2, M, 8}), v = m.in("v", f16, {1, 2, M, 8});
        m.out(ops::attention(q, k, v, {.causal = ops::Causal::first}));
      },
      {{{{1, 2, 9, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}}}},
      [&](const Inputs& in) { return Results{attend(in[0], in[1], in[2], {first, 1})}; }, {1e-3, 1e-3});
}

TEST_CASE("rotary embeddings, of halves and of neighbors, of all elements and of some") {
  check(
      "rotary",
      [](Maker& m) {
        const Symbol B{"B"}, T{"T"};
        const Tensor x = m.in("x", f32, {B, 2, T, 10}), p = m.in("positions", i32, {T}, whole(0, 500));
        const auto all = ops::rotary_tables(p, 10), some = ops::rotary_tables(p, 6, 500);
        m.out(ops::rotary_embedding(x, all.cos, all.sin)), m.out(ops::rotary_embedding(x, all.cos, all.sin, true));
        m.out(ops::rotary_embedding(x, some.cos, some.sin)), m.out(ops::rotary_embedding(x, some.cos, some.sin, true));
      },
      {{{{2, 2, 6, 10}, {6}}}, {{{1, 2, 1, 10}, {1}}}, {{{1, 2, 0, 10}, {0}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &positions = in[1];
        const auto turned = [&](std::int64_t D, double base, bool interleaved) {
          Nd y = x;
          each({x.n(0), 2, x.n(2), D / 2}, [&](const Dims& i) {
            const std::int64_t a = interleaved ? 2 * i[3] : i[3], b = interleaved ? a + 1 : a + D / 2;
            const double angle = positions(i[2]) * std::pow(base, -2.0 * static_cast<double>(i[3]) / static_cast<double>(D));
            const double u = x(i[0], i[1], i[2], a), v = x(i[0], i[1], i[2], b);
            y(i[0], i[1], i[2], a) = u * std::cos(angle) - v * std::sin(angle);
            y(i[0], i[1], i[2], b) = v * std::cos(angle) + u * std::sin(angle);
          });
          return y;
        };
        return Results{turned(10, 10000, false), turned(10, 10000, true), turned(6, 500, false), turned(6, 500, true)};
      },
      {1e-5, 2e-4});
}

TEST_CASE("LSTM and GRU: a step, and a sequence with batches and without") {
  // Extents that are not given are Symbols.
  const auto build = [](Maker& m, bool cells, std::int64_t batches = -1, std::int64_t units = -1) {
    const Symbol T{"T"}, I{"I"};
    const Extent B = batches < 0 ? Extent(Symbol("B")) : Extent(batches), H = units < 0 ? Extent(Symbol("H")) : Extent(units);
    const Tensor s = m.in("s", f32, {T, B, I}), one = m.in("one", f32, {T, I}), x = m.in("x", f32, {B, I}),
                 h = m.in("h", f32, {B, H}, between(-1, 1)), c = m.in("c", f32, {B, H}), W = m.in("W", f32, {I, 4, H}),
                 U = m.in("U", f32, {H, 4, H}), b = m.in("b", f32, {4, H}), V = m.in("V", f32, {I, 3, H}),
                 Q = m.in("Q", f32, {H, 3, H}), d = m.in("d", f32, {3, H}), e = m.in("e", f32, {3, H});
    if (cells) {
      const auto cell = ops::lstm_cell(x, h, c, W, U, b);
      m.out(cell.result), m.out(cell.cell), m.out(ops::gru_cell(x, h, V, Q, d, e));
      return;
    }
    m.out(ops::lstm(s, W, U, b)), m.out(ops::lstm(one, W, U, Tensor())), m.out(ops::gru(s, V, Q, d, e)),
        m.out(ops::gru(one, V, Q, Tensor(), Tensor()));
  };
  const auto reference = [](const Inputs& in, bool cells) {
    const Nd &s = in[0], &one = in[1], &W = in[5], &U = in[6], &b = in[7], &V = in[8], &Q = in[9], &d = in[10], &e = in[11];
    const std::int64_t T = s.n(0), B = s.n(1), I = s.n(2), H = W.n(2);
    const auto gate = [&](const Nd& w, const Nd& v, std::int64_t n, std::int64_t g, std::int64_t j, const Nd& bias) {
      double a = bias(g, j);
      for (std::int64_t i = 0; i < v.n(1); ++i) a += v(n, i) * w(i, g, j);
      return a;
    };
    const auto lstm = [&](const Nd& x, Nd& h, Nd& c, const Nd& bias) {
      Nd next = h;
      const Nd none({4, H});
      each(h.shape, [&](const Dims& k) {
        double g[4];
        for (std::int64_t n = 0; n < 4; ++n) g[n] = gate(W, x, k[0], n, k[1], bias) + gate(U, h, k[0], n, k[1], none);
        c.at(k) = sigmoid(g[1]) * c.at(k) + sigmoid(g[0]) * std::tanh(g[2]);
        next.at(k) = sigmoid(g[3]) * std::tanh(c.at(k));
      });
      h = next;
    };
    const auto gru = [&](const Nd& x, Nd& h, const Nd& bx, const Nd& bh) {
      Nd next = h;
      each(h.shape, [&](const Dims& k) {
        const auto p = [&](std::int64_t g) { return gate(V, x, k[0], g, k[1], bx); };
        const auto q = [&](std::int64_t g) { return gate(Q, h, k[0], g, k[1], bh); };
        const double r = sigmoid(p(0) + q(0)), z = sigmoid(p(1) + q(1));
        next.at(k) = (1 - z) * std::tanh(p(2) + r * q(2)) + z * h.at(k);
      });
      h = next;
    };
    Nd h = in[3], c = in[4], g = in[3];
    lstm(in[2], h, c, b), gru(in[2], g, d, e);
    if (cells) return Results{h, c, g};
    Results r;
    for (int which = 0; which < 4; ++which) {
      const bool batched = which % 2 == 0;
      const std::int64_t rows = batched ? B : 1;
      Nd state({rows, H}), memory = state, all({T, rows, H}), x({rows, I});
      for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t k = 0; k < x.size(); ++k) x[k] = (batched ? s : one)[t * x.size() + k];
        if (which < 2)
          lstm(x, state, memory, batched ? b : Nd({4, H}));
        else
          gru(x, state, batched ? d : Nd({3, H}), batched ? e : Nd({3, H}));
        for (std::int64_t k = 0; k < state.size(); ++k) all[t * state.size() + k] = state[k];
      }
      if (!batched) all.shape = {T, H};
      r.push_back(all);
    }
    return r;
  };
  const Run ordinary(
      {{5, 3, 4}, {5, 4}, {3, 4}, {3, 6}, {3, 6}, {4, 4, 6}, {6, 4, 6}, {4, 6}, {4, 3, 6}, {6, 3, 6}, {3, 6}, {3, 6}});
  const std::vector<Run> runs{
      ordinary,
      {{{1, 1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1}, {0, 4, 1}, {1, 4, 1}, {4, 1}, {0, 3, 1}, {1, 3, 1}, {3, 1}, {3, 1}}},
      {{{0, 2, 2}, {0, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 4, 2}, {2, 4, 2}, {4, 2}, {2, 3, 2}, {2, 3, 2}, {3, 2}, {3, 2}}}};
  check("cells", [&](Maker& m) { build(m, true); }, runs, [&](const Inputs& in) { return reference(in, true); }, {2e-5, 1e-5});
  // On a device what a step computes inside of the recurrence lies in a thread's own memory, whose size is a number.
  check(
      "sequences", [&](Maker& m) { build(m, false); }, runs, [&](const Inputs& in) { return reference(in, false); },
      {.relative = 2e-5,
       .absolute = 1e-5,
       .emulated = true,
       .refused_on_devices = "expected loops bound to blocks and threads for lstm_xw"});
  check(
      "sequences of numbers of batches and units", [&](Maker& m) { build(m, false, 3, 6); }, {ordinary},
      [&](const Inputs& in) { return reference(in, false); }, {2e-5, 1e-5});
}

TEST_CASE("attention and cells refuse") {
  const Symbol B{"B"}, M{"M"}, N{"N"};
  const auto text = [&](std::vector<Extent> q, std::vector<Extent> k, ops::AttentionOptions o) {
    return refusal_of([&] {
      const Tensor keys = lang::make_input("keys", f32, k);
      (void)ops::attention(lang::make_input("queries", f32, q), keys, keys, o);
    });
  };
  CHECK(text({B, 8, M, 64}, {B, 3, N, 64}, {.groups = 2})
            .find("attention: expected q whose dimension 1 has the extent 6, the heads of k and its groups, found 8") !=
        std::string::npos);
  CHECK(text({B, 8, M, 64}, {B, 8, N, 32}, {})
            .find("attention: expected k whose dimension 3 has the extent 64, as q has, with heads of its own, found 32") !=
        std::string::npos);
  CHECK(text({B, 8, M, 64}, {B, 8, N, 64}, {.window = 4})
            .find("attention: expected a window of at least 0, of causal attention, found 4") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::lstm(lang::make_input("p", f32, {M, 3}), lang::make_input("w", f32, {3, 3, 5}),
                          lang::make_input("u", f32, {5, 4, 5}), Tensor());
        }).find("lstm: expected W whose dimension 1 has the extent 4, the columns of x and the gates, found 3") !=
        std::string::npos);
}
