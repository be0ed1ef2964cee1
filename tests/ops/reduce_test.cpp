// Reductions over dimensions of any number, extremes and their places, softmax, norms.
#include <algorithm>

#include "tests/ops/check.h"

using namespace ops_test;

namespace {

// f over the elements of x in the reduced dimensions, for each point that is left; `keep` leaves extents of 1.
Nd reduced(const Nd& x, const std::vector<int>& axes, bool keep, const std::function<double(const std::vector<double>&)>& f) {
  std::vector<bool> gone(x.shape.size(), axes.empty());
  for (const int a : axes) gone[static_cast<std::size_t>(a)] = true;
  Dims left, run;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (!gone[d]) left.push_back(x.shape[d]);
    if (gone[d] && keep) left.push_back(1);
    if (gone[d]) run.push_back(x.shape[d]);
  }
  Nd r(left);
  each(left, [&](const Dims& i) {
    std::vector<double> all;
    each(run, [&](const Dims& k) {
      Dims at;
      std::size_t a = 0, b = 0;
      for (std::size_t d = 0; d < gone.size(); ++d) {
        at.push_back(gone[d] ? k[a++] : i[b]);
        if (!gone[d] || keep) ++b;
      }
      all.push_back(x.at(at));
    });
    r.at(i) = f(all);
  });
  return r;
}

constexpr double inf = std::numeric_limits<double>::infinity();
double total(const std::vector<double>& v) {
  double s = 0;
  for (const double e : v) s += e;
  return s;
}
double largest(const std::vector<double>& v) {
  double m = -inf;
  for (const double e : v) m = std::isnan(m) || std::isnan(e) ? std::nan("") : std::fmax(m, e);
  return m;
}
double smallest(const std::vector<double>& v) {
  double m = inf;
  for (const double e : v) m = std::isnan(m) || std::isnan(e) ? std::nan("") : std::fmin(m, e);
  return m;
}
double squares(const std::vector<double>& v) {
  double s = 0;
  for (const double e : v) s += e * e;
  return s;
}
double variance(const std::vector<double>& v, double correction) {
  const double n = static_cast<double>(v.size()), mean = total(v) / n;
  double s = 0;
  for (const double e : v) s += (e - mean) * (e - mean);
  return n > correction ? s / (n - correction) : std::nan("");
}
double logsumexp(const std::vector<double>& v) {
  const double m = largest(v);
  if (!(std::fabs(m) < inf)) return m;
  double s = 0;
  for (const double e : v) s += std::exp(e - m);
  return std::log(s) + m;
}
double first_largest(const std::vector<double>& v) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < v.size(); ++k)
    if (!std::isnan(v[best]) && (std::isnan(v[k]) || v[k] > v[best])) best = k;
  return v.empty() ? static_cast<double>(INT64_MAX) : static_cast<double>(best);
}
double first_smallest(const std::vector<double>& v) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < v.size(); ++k)
    if (!std::isnan(v[best]) && (std::isnan(v[k]) || v[k] < v[best])) best = k;
  return v.empty() ? static_cast<double>(INT64_MAX) : static_cast<double>(best);
}

const std::vector<Run> cubes{{{{3, 5, 7}}}, {{{1, 1, 1}}}, {{{2, 0, 3}}}, {{{0, 4, 2}}}};

}  // namespace

TEST_CASE("reductions over one dimension, several, and all") {
  struct Over {
    const char* name;
    std::vector<int> axes;
    bool keep;
  };
  for (const Over& o : {Over{"over the last", {2}, false}, {"over two, kept", {0, 2}, true}, {"over all", {}, false}})
    check(
        o.name,
        [&](Maker& m) {
          const Symbol A{"A"}, B{"B"}, C{"C"};
          const Tensor x = m.in("x", f32, {A, B, C});
          const ops::ReduceOptions r{.axes = o.axes, .keep_dims = o.keep};
          m.out(ops::reduce_sum(x, r)), m.out(ops::reduce_prod(x, r)), m.out(ops::reduce_max(x, r));
          m.out(ops::reduce_min(x, r)), m.out(ops::reduce_mean(x, r)), m.out(ops::reduce_sum_square(x, r));
          m.out(ops::reduce_l1(x, r)), m.out(ops::reduce_l2(x, r)), m.out(ops::reduce_var(x, r));
          m.out(ops::reduce_std(x, r, 0)), m.out(ops::reduce_logsumexp(x, r));
          const Tensor positive = ops::cast(ops::relu(x), bool_);
          m.out(ops::reduce_all(positive, r)), m.out(ops::reduce_any(positive, r));
        },
        cubes,
        [&](const Inputs& in) {
          const auto over = [&](const std::function<double(const std::vector<double>&)>& f) {
            return reduced(in[0], o.axes, o.keep, f);
          };
          const auto count = [](const std::vector<double>& v) { return static_cast<double>(v.size()); };
          return Results{
              over(total),
              over([](auto& v) {
                double p = 1;
                for (const double e : v) p *= e;
                return p;
              }),
              over(largest),
              over(smallest),
              over([&](auto& v) { return total(v) / count(v); }),
              over(squares),
              over([](auto& v) {
                double s = 0;
                for (const double e : v) s += std::fabs(e);
                return s;
              }),
              over([](auto& v) { return std::sqrt(squares(v)); }),
              over([](auto& v) { return variance(v, 1); }),
              over([](auto& v) { return std::sqrt(variance(v, 0)); }),
              over(logsumexp),
              over([](auto& v) { return std::all_of(v.begin(), v.end(), [](double e) { return e > 0; }) ? 1. : 0.; }),
              over([](auto& v) { return std::any_of(v.begin(), v.end(), [](double e) { return e > 0; }) ? 1. : 0.; })};
        },
        {4e-6, 2e-6, false, o.keep});
}

TEST_CASE("narrow types are summed wide") {
  check(
      "bytes",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", i8, {M, N}, whole(-128, 127)), u = m.in("u", u8, {M, N}, whole(0, 255));
        m.out(ops::reduce_sum(x, {.axes = {1}})), m.out(ops::reduce_sum(u, {.axes = {0}})),
            m.out(ops::reduce_max(x, {.axes = {1}}));
        m.out(ops::reduce_sum_square(x)), m.out(ops::reduce_min(u));
      },
      {{{{4, 90}, {4, 90}}}, {{{1, 1}, {1, 1}}}, {{{2, 0}, {2, 0}}}},
      [](const Inputs& in) {
        return Results{reduced(in[0], {1}, false, total), reduced(in[1], {0}, false, total),
                       reduced(in[0], {1}, false, [](auto& v) { return v.empty() ? -128 : largest(v); }),
                       reduced(in[0], {}, false, squares),
                       reduced(in[1], {}, false, [](auto& v) { return v.empty() ? 255 : smallest(v); })};
      },
      exact);
  check(
      "halves",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", f16, {M, N}, between(0, 8)), y = m.in("y", bf16, {M, N});
        m.out(ops::reduce_sum(x, {.axes = {-1}})), m.out(ops::reduce_mean(y, {.axes = {-1}})), m.out(ops::softmax(x));
        m.out(ops::reduce_var(y, {.axes = {0}}, 0));
      },
      {{{{3, 200}, {3, 200}}}},
      [](const Inputs& in) {
        const Nd m = reduced(in[0], {1}, true, largest);
        const Nd e = reduced(in[0], {1}, true, [](auto& v) { return std::exp(logsumexp(v)); });
        Nd soft = in[0];
        each(soft.shape, [&](const Dims& i) { soft.at(i) = std::exp(soft.at(i)) / e(i[0], 0); });
        return Results{reduced(in[0], {1}, false, total),
                       reduced(in[1], {1}, false, [](auto& v) { return total(v) / static_cast<double>(v.size()); }), soft,
                       reduced(in[1], {0}, false, [](auto& v) { return variance(v, 0); })};
      },
      {4e-3, 1e-3});
}

TEST_CASE("places of extremes: the first of equals, a NaN before numbers, nothing at all") {
  const auto build = [](ops_test::Values values) {
    return [values](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const Tensor x = m.in("x", f32, {M, N}, values);
      const auto top = ops::argmax(x, 1), low = ops::argmin(x, 0, true);
      m.out(top.value), m.out(top.index), m.out(low.value), m.out(low.index), m.out(ops::reduce_max(x, {.axes = {0}}));
    };
  };
  const auto reference = [](const Inputs& in) {
    return Results{reduced(in[0], {1}, false, largest), reduced(in[0], {1}, false, first_largest),
                   reduced(in[0], {0}, true, smallest), reduced(in[0], {0}, true, first_smallest),
                   reduced(in[0], {0}, false, largest)};
  };
  const std::vector<Run> runs{{{{6, 11}}}, {{{1, 1}}}, {{{3, 0}}}, {{{0, 2}}}, {{{2, 64}}}};
  check("ties", build(whole(-2, 2)), runs, reference, exact);
  check("NaN", build(edges()), runs, reference, exact);
}

TEST_CASE("softmax, its online form, its logarithm, logsumexp: minus infinity has no share") {
  const auto build = [](ops_test::Values values, int axis) {
    return [values, axis](Maker& m) {
      const Symbol M{"M"}, N{"N"};
      const Tensor x = m.in("x", f32, {M, N}, values);
      m.out(ops::softmax(x, axis)), m.out(ops::softmax_online(x, axis)), m.out(ops::log_softmax(x, axis));
      m.out(ops::reduce_logsumexp(x, {.axes = {axis}}));
    };
  };
  const auto reference = [](int axis) {
    return [axis](const Inputs& in) {
      Nd soft = in[0], logs = in[0];
      const Nd lse = reduced(in[0], {axis}, true, logsumexp), top = reduced(in[0], {axis}, true, largest);
      each(soft.shape, [&](const Dims& i) {
        Dims row = i;
        row[static_cast<std::size_t>(axis)] = 0;
        const bool none = !std::isfinite(top.at(row));  // minus infinity alone, plus infinity, NaN
        logs.at(i) = none ? std::nan("") : in[0].at(i) - lse.at(row);
        soft.at(i) = std::exp(logs.at(i));
      });
      return Results{soft, soft, logs, reduced(in[0], {axis}, false, logsumexp)};
    };
  };
  const std::vector<Run> runs{{{{5, 33}}}, {{{1, 1}}}, {{{3, 0}}}, {{{0, 4}}}};
  check("rows whose exponentials overflow", build(between(280, 330), 1), runs, reference(1), {2e-5, 2e-6, false, true});
  check("columns", build(between(-3, 3), 0), runs, reference(0), {2e-6, 1e-7});
  check("masked", build(falls_to(-inf, 2), 1), runs, reference(1), {2e-6, 5e-7});
  check("masked columns, most are nothing else", build(falls_to(-inf, 1), 0), {{{{2, 5}}}}, [](const Inputs& in) {
    const Nd none = in[0].map([](double) { return std::nan(""); });
    return Results{none, none, none, Nd({in[0].n(1)}, -inf)};
  });
}

namespace {
// The mean and the variance of what f collects, over all points.
std::pair<double, double> moments(const Dims& over, const std::function<double(const Dims&)>& f) {
  std::vector<double> all;
  each(over, [&](const Dims& k) { all.push_back(f(k)); });
  return {total(all) / static_cast<double>(all.size()), variance(all, 0)};
}
}  // namespace

TEST_CASE("layer norm and RMS norm") {
  check(
      "layer norm",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", f32, {M, 3, N}, between(40, 44)), a = m.in("scale", f32, {N}), b = m.in("shift", f32, {N}),
                     c = m.in("scale2", f32, {3, N});
        m.out(ops::layer_norm(x, a, b));
        m.out(ops::layer_norm(x, c, Tensor(), 0.25, 2));
        m.out(ops::rms_norm(x, a));
        m.out(ops::rms_norm(x, Tensor(), 0.5));
      },
      {{{{4, 3, 37}, {37}, {37}, {3, 37}}}, {{{1, 3, 1}, {1}, {1}, {3, 1}}}, {{{0, 3, 5}, {5}, {5}, {3, 5}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &a = in[1], &b = in[2], &c = in[3];
        Nd one = x, two = x, rms = x, plain = x;
        const std::int64_t n = x.n(2);
        each(x.shape, [&](const Dims& i) {
          const auto [mean, var] = moments({n}, [&](const Dims& k) { return x(i[0], i[1], k[0]); });
          const auto [mean2, var2] = moments({3, n}, [&](const Dims& k) { return x(i[0], k[0], k[1]); });
          const double v = x.at(i), square = var + mean * mean;
          one.at(i) = (v - mean) / std::sqrt(var + 1e-5) * a(i[2]) + b(i[2]);
          two.at(i) = (v - mean2) / std::sqrt(var2 + 0.25) * c(i[1], i[2]);
          rms.at(i) = v / std::sqrt(square + 1e-6) * a(i[2]);
          plain.at(i) = v / std::sqrt(square + 0.5);
        });
        return Results{one, two, rms, plain};
      },
      {2e-5, 2e-5, false, true});
}

TEST_CASE("batch, group and instance norm") {
  check(
      "norms of images",
      [](Maker& m) {
        const Symbol N{"N"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, 6, H, W}), mean = m.in("mean", f32, {6}),
                     var = m.in("var", f32, {6}, between(0.5, 2)), a = m.in("scale", f32, {6}), b = m.in("shift", f32, {6});
        m.out(ops::batch_norm(x, mean, var, a, b));
        m.out(ops::batch_norm_training(x, a, b, 1e-3));
        m.out(ops::group_norm(x, 3, a, b));
        m.out(ops::group_norm(x, 1, Tensor(), b));
        m.out(ops::instance_norm(x, a, Tensor()));
      },
      {{{{2, 6, 5, 3}, {6}, {6}, {6}, {6}}}, {{{1, 6, 1, 1}, {6}, {6}, {6}, {6}}}, {{{0, 6, 2, 2}, {6}, {6}, {6}, {6}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &mean = in[1], &var = in[2], &a = in[3], &b = in[4];
        Nd batch = x, training = x, group = x, one = x, instance = x;
        const std::int64_t n = x.n(0), h = x.n(2), w = x.n(3);
        each(x.shape, [&](const Dims& i) {
          const double v = x.at(i), s = a(i[1]), t = b(i[1]);
          batch.at(i) = (v - mean(i[1])) / std::sqrt(var(i[1]) + 1e-5) * s + t;
          const auto over = [&](Dims shape, double eps, const std::function<double(const Dims&)>& f) {
            const auto [m, d] = moments(shape, f);
            return (v - m) / std::sqrt(d + eps);
          };
          training.at(i) = over({n, h, w}, 1e-3, [&](const Dims& k) { return x(k[0], i[1], k[1], k[2]); }) * s + t;
          group.at(i) = over({2, h, w}, 1e-5, [&](const Dims& k) { return x(i[0], i[1] / 2 * 2 + k[0], k[1], k[2]); }) * s + t;
          one.at(i) = over({6, h, w}, 1e-5, [&](const Dims& k) { return x(i[0], k[0], k[1], k[2]); }) + t;
          instance.at(i) = over({h, w}, 1e-5, [&](const Dims& k) { return x(i[0], i[1], k[0], k[1]); }) * s;
        });
        return Results{batch, training, group, one, instance};
      },
      {2e-5, 2e-5});
}

TEST_CASE("of a tensor without dimensions") {
  check(
      "reduce_scalar",
      [](Maker& m) {
        const Tensor x = m.in("x", f32, {}, between(-3, -1));
        m.out(ops::reduce_sum(x)), m.out(ops::reduce_prod(x)), m.out(ops::reduce_max(x)), m.out(ops::reduce_min(x));
        m.out(ops::reduce_mean(x)), m.out(ops::reduce_sum_square(x)), m.out(ops::reduce_l1(x)), m.out(ops::reduce_l2(x));
        m.out(ops::reduce_logsumexp(x)), m.out(ops::reduce_var(x)), m.out(ops::reduce_var(x, {}, 0));
      },
      {{{{}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], size = x.map([](double v) { return std::fabs(v); });
        return Results{x,
                       x,
                       x,
                       x,
                       x,
                       x.map([](double v) { return v * v; }),
                       size,
                       size,
                       x,
                       x.map([](double) { return std::nan(""); }),
                       x.map([](double) { return 0; })};
      });
}

TEST_CASE("reductions refuse") {
  const auto text = [](auto f) {
    return refusal_of([&] {
      const Symbol N{"N"};
      f(lang::make_input("x", f32, {N, 6}), lang::make_input("w", f32, {N}));
    });
  };
  CHECK(text([](const Tensor& x, const Tensor&) {
          (void)ops::reduce_sum(x, {.axes = {0, -2}});
        }).find("reduce_sum: expected each axis once, found -2 twice") != std::string::npos);
  CHECK(text([](const Tensor& x, const Tensor&) {
          (void)ops::softmax(x, 2);
        }).find("softmax: expected an axis from -2 to 1, found 2") != std::string::npos);
  CHECK(text([](const Tensor&, const Tensor&) {
          (void)ops::softmax(lang::make_input("x", f32, std::vector<Extent>{}));
        }).find("softmax: expected x of rank 1 or more, for an axis of it, found rank 0") != std::string::npos);
  CHECK(text([](const Tensor& x, const Tensor&) {
          (void)ops::layer_norm(x, lang::make_input("s", i32, {6}), Tensor());
        }).find("layer_norm: expected scale of f32, found i32") != std::string::npos);
  CHECK(text([](const Tensor& x, const Tensor& w) {
          (void)ops::layer_norm(x, w, Tensor());
        }).find("layer_norm: expected scale whose dimension 0 has the extent 6, as x has, found N") != std::string::npos);
  CHECK(text([](const Tensor& x, const Tensor&) {
          (void)ops::group_norm(x, 4, Tensor(), Tensor());
        }).find("group_norm: expected x with a number of channels that 4 groups divide, found 6") != std::string::npos);
}
