// Attention of 8 heads of 64 numbers, f32, beside oneDNN (a product, softmax, a product) and Eigen: 512 queries and keys, and
// one query of as many keys and more.
#include <bench_attention.h>
#include <bench_attention_decode.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/peers/onednn_library.h"
#include "bench/peers/peers.h"
#include "bench/arrays.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

constexpr std::int64_t heads = 8, size = 64;

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

struct Problem {
  std::int64_t queries, length;
  // Scores of a few units, as trained layers have: exponentials of different sizes.
  Array<float> q = random_array<float>(heads * queries * size, -1, 1, 6),
               k = random_array<float>(heads * length * size, -1, 1, 7),
               v = random_array<float>(heads * length * size, -1, 1, 8);
  Problem(std::int64_t of_queries, std::int64_t keys) : queries(of_queries), length(keys) {
    for (float& x : q) x *= 3;
  }

  // In double precision, all of 60 rows.
  void check(const std::string& impl, const Array<float>& y) const {
    std::mt19937_64 engine(9);
    for (int p = 0; p < 60; ++p) {
      const std::int64_t h = p % heads, i = p < 16 ? p / 8 * (queries - 1)
                                                   : static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(queries));
      const float* query = &q[at((h * queries + i) * size)];
      std::vector<double> weights(at(length));
      for (std::int64_t j = 0; j < length; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < size; ++d) score += static_cast<double>(query[d]) * k[at((h * length + j) * size + d)];
        weights[at(j)] = score / std::sqrt(static_cast<double>(size));
      }
      const double most = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& w : weights) sum += w = std::exp(w - most);
      for (std::int64_t e = 0; e < size; ++e) {
        double exact = 0;
        for (std::int64_t j = 0; j < length; ++j) exact += weights[at(j)] / sum * v[at((h * length + j) * size + e)];
        const double found = y[at((h * queries + i) * size + e)];
        if (!(std::abs(found - exact) <= 2e-5))
          throw std::runtime_error(fmt::format("{} computes y({}, {}, {}) = {}, expected {}", impl, h, i, e, found, exact));
      }
    }
  }
};

template <class With>
void attention(Report& report, const Machine& machine, const char* kernel, std::int64_t queries, std::int64_t length,
               With with) {
  const Problem p(queries, length);
  Array<float> y(p.q.size());
  apps::Tensor q(p.q.data(), {1, heads, queries, size}), k(p.k.data(), {1, heads, length, size}),
      v(p.v.data(), {1, heads, length, size}), result(y.data(), {1, heads, queries, size});
  for (int n = 0; n < (machine.threads > 1 ? 2 : 1); ++n) {
    const int threads = n == 0 ? 1 : machine.threads;
    onednn_threads(threads), eigen_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Workspace workspace;
    workspace.reserve(std::size_t{64} << 20);
    std::vector<Contender> contenders = {
        {"ashlar", [&] { apps::check(with(q, k, v, result, &workspace.context), &workspace.error); }},
        {"eigen", [&] { eigen_attention(p.q.data(), p.k.data(), p.v.data(), y.data(), heads, queries, length, size); }}};
    for (const OnednnVersion& o : onednns())
      for (const bool each : {false, true})
        contenders.push_back(
            {o.impl + (each ? " head by head" : ""),
             o.library->attention(each, p.q.data(), p.k.data(), p.v.data(), y.data(), heads, queries, length, size).run});
    for (const Contender& c : contenders) {
      std::fill(y.begin(), y.end(), NAN);
      c.run();
      p.check(c.impl, y);
    }
    const std::string shape =
        fmt::format("{}x{}{}x{}", heads, queries == length ? "" : fmt::format("{}x", queries), length, size);
    const double sums = static_cast<double>(heads * length * size);
    if (queries > 1)  // the operations of the products; exponentials come on top
      report.race({kernel, shape, threads, 4 * sums * static_cast<double>(queries), "GFLOP/s", machine.fma[n]}, contenders);
    else  // bytes of k and v, which are read once
      report.race({kernel, shape, threads, 8 * sums, "GB/s", 0}, contenders);
  }
}

}  // namespace

void attention_suite(Report& report, const Machine& machine) {
  if (report.wants("attention_f32")) attention(report, machine, "attention_f32", 512, 512, bench_attention_with);
  if (report.wants("attention_decode"))
    for (const std::int64_t keys : {512, 8192})
      attention(report, machine, "attention_decode", 1, keys, bench_attention_decode_with);
}

}  // namespace bench
