// Programs that gradient() wrote, beside the derivatives written by hand.
#include "conv2d_backward.h"
#include "lstm.h"
#include "network_step.h"
#include "tests/gallery/close.h"

namespace {
std::size_t at(const std::vector<std::int64_t>& shape, std::initializer_list<std::int64_t> index) {
  std::int64_t k = 0;
  auto extent = shape.begin();
  for (std::int64_t i : index) k = k * *extent++ + i;
  return static_cast<std::size_t>(k);
}
}  // namespace

TEST_CASE("the backward pass of a convolution") {
  struct Size {
    std::int64_t n, c, o, h, w;
  };
  for (const Size& s : {Size{1, 1, 1, 3, 3}, {2, 3, 4, 8, 21}, {1, 2, 5, 5, 40}, {0, 2, 2, 4, 4}, {2, 0, 1, 4, 4}}) {
    CAPTURE(s.h);
    CAPTURE(s.w);
    Dense<float> x({s.n, s.c, s.h, s.w}, fractions(1)), w({s.o, s.c, 3, 3}, fractions(2)),
        dy({s.n, s.o, s.h - 2, s.w - 2}, fractions(3));
    Dense<float> dx(x.shape), dw(w.shape);
    std::vector<double> by_x(x.data.size()), by_w(w.data.size());
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t o = 0; o < s.o; ++o)
        for (std::int64_t i = 0; i < s.h - 2; ++i)
          for (std::int64_t j = 0; j < s.w - 2; ++j)
            for (std::int64_t c = 0; c < s.c; ++c)
              for (std::int64_t r = 0; r < 3; ++r)
                for (std::int64_t q = 0; q < 3; ++q) {
                  const double d = static_cast<double>(dy.data[at(dy.shape, {n, o, i, j})]);
                  by_x[at(x.shape, {n, c, i + r, j + q})] += d * static_cast<double>(w.data[at(w.shape, {o, c, r, q})]);
                  by_w[at(w.shape, {o, c, r, q})] += d * static_cast<double>(x.data[at(x.shape, {n, c, i + r, j + q})]);
                }
    ashlar_tensor a = x.tensor(), b = w.tensor(), c = dy.tensor(), d = dx.tensor(), e = dw.tensor();
    REQUIRE_MESSAGE(conv2d_backward(&a, &b, &c, &d, &e) == ASHLAR_OK, last_error());
    close(dx.data, by_x, 1e-5);
    close(dw.data, by_w, 1e-5);
  }
}

namespace {

// The same network by loops in double.
struct Reference {
  std::int64_t N, D, H, K;
  std::vector<double> x, t, W1, b1, W2, b2;
  double step(double rate) {
    std::vector<double> h(static_cast<std::size_t>(N * H)), dW1(W1.size()), db1(b1.size()), dW2(W2.size()), db2(b2.size());
    double loss = 0;
    const auto i2 = [](std::int64_t i, std::int64_t j, std::int64_t width) { return static_cast<std::size_t>(i * width + j); };
    const auto i1 = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t j = 0; j < H; ++j) {
        double s = b1[i1(j)];
        for (std::int64_t d = 0; d < D; ++d) s += x[i2(n, d, D)] * W1[i2(d, j, H)];
        h[i2(n, j, H)] = std::tanh(s);
      }
      std::vector<double> dh(i1(H));
      for (std::int64_t k = 0; k < K; ++k) {
        double z = b2[i1(k)];
        for (std::int64_t j = 0; j < H; ++j) z += h[i2(n, j, H)] * W2[i2(j, k, K)];
        const double e = z - t[i2(n, k, K)], dz = 2 * e / static_cast<double>(N);
        loss += e * e / static_cast<double>(N);
        db2[i1(k)] += dz;
        for (std::int64_t j = 0; j < H; ++j) dW2[i2(j, k, K)] += dz * h[i2(n, j, H)], dh[i1(j)] += dz * W2[i2(j, k, K)];
      }
      for (std::int64_t j = 0; j < H; ++j) {
        const double da = dh[i1(j)] * (1 - h[i2(n, j, H)] * h[i2(n, j, H)]);
        db1[i1(j)] += da;
        for (std::int64_t d = 0; d < D; ++d) dW1[i2(d, j, H)] += da * x[i2(n, d, D)];
      }
    }
    const auto move = [&](std::vector<double>& w, const std::vector<double>& dw) {
      for (std::size_t k = 0; k < w.size(); ++k) w[k] -= rate * dw[k];
    };
    move(W1, dW1), move(b1, db1), move(W2, dW2), move(b2, db2);
    return loss;
  }
};
std::vector<double> wide(const std::vector<float>& v) { return {v.begin(), v.end()}; }

}  // namespace

TEST_CASE("gradient descent on a network of two layers, end to end") {
  const std::int64_t N = 24, D = 3, H = 20, K = 2;
  Dense<float> x({N, D}, fractions(1)), t({N, K});
  for (std::int64_t n = 0; n < N; ++n) t(n, 0) = x(n, 0) * x(n, 1), t(n, 1) = std::sin(2 * x(n, 2));
  Dense<float> W1({D, H}, fractions(11)), b1({H}, fractions(12)), W2({H, K}, fractions(13)), b2({K}, fractions(14));
  Dense<float> loss(std::vector<std::int64_t>{}), W1n(W1.shape), b1n(b1.shape), W2n(W2.shape), b2n(b2.shape);
  Reference r{N, D, H, K, wide(x.data), wide(t.data), wide(W1.data), wide(b1.data), wide(W2.data), wide(b2.data)};
  double first = 0;
  for (int step = 0; step < 400; ++step) {
    ashlar_tensor in[] = {x.tensor(), t.tensor(), W1.tensor(), b1.tensor(), W2.tensor(), b2.tensor()};
    ashlar_tensor out[] = {loss.tensor(), W1n.tensor(), b1n.tensor(), W2n.tensor(), b2n.tensor()};
    REQUIRE_MESSAGE(network_step(&in[0], &in[1], &in[2], &in[3], &in[4], &in[5], 0.05f, &out[0], &out[1], &out[2], &out[3],
                                 &out[4]) == ASHLAR_OK,
                    last_error());
    const double expected = r.step(0.05f);
    if (step == 0) first = expected;
    CHECK(static_cast<double>(loss.data[0]) == doctest::Approx(expected).epsilon(1e-3));
    std::swap(W1.data, W1n.data), std::swap(b1.data, b1n.data), std::swap(W2.data, W2n.data), std::swap(b2.data, b2n.data);
  }
  close(W1.data, r.W1, 1e-3);
  close(W2.data, r.W2, 1e-3);
  CHECK(static_cast<double>(loss.data[0]) < first / 20);  // it learns
}

TEST_CASE("a layer of long short-term memory over a sequence") {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  struct Size {
    std::int64_t t, i, h;
  };
  for (const Size& s : {Size{1, 1, 1}, {0, 3, 4}, {7, 5, 33}, {4, 0, 16}}) {
    CAPTURE(s.t);
    CAPTURE(s.h);
    Dense<float> x({s.t, s.i}, fractions(1)), W({s.i, 4, s.h}, fractions(2)), U({s.h, 4, s.h}, fractions(3)),
        b({4, s.h}, fractions(4));
    Dense<float> out({s.t, s.h});
    std::vector<double> expected, c(static_cast<std::size_t>(s.h)), h(c);
    for (std::int64_t t = 0; t < s.t; ++t) {
      const std::vector<double> before = h;
      for (std::int64_t j = 0; j < s.h; ++j) {
        double gate[4];
        for (std::int64_t g = 0; g < 4; ++g) {
          gate[g] = static_cast<double>(b(g, j));
          for (std::int64_t i = 0; i < s.i; ++i)
            gate[g] += static_cast<double>(x(t, i)) * static_cast<double>(W.data[at(W.shape, {i, g, j})]);
          for (std::int64_t k = 0; k < s.h; ++k)
            gate[g] += before[static_cast<std::size_t>(k)] * static_cast<double>(U.data[at(U.shape, {k, g, j})]);
        }
        double& cell = c[static_cast<std::size_t>(j)];
        cell = sigmoid(gate[1]) * cell + sigmoid(gate[0]) * std::tanh(gate[2]);
        h[static_cast<std::size_t>(j)] = sigmoid(gate[3]) * std::tanh(cell);
      }
      expected.insert(expected.end(), h.begin(), h.end());
    }
    ashlar_tensor a = x.tensor(), w = W.tensor(), u = U.tensor(), bias = b.tensor(), o = out.tensor();
    REQUIRE_MESSAGE(lstm(&a, &w, &u, &bias, &o) == ASHLAR_OK, last_error());
    close(out.data, expected, 1e-4);
  }
}
