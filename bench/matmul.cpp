// The matrix product, C[M, N] = A[M, K] B[K, N] in f32, beside OpenBLAS, oneDNN and Eigen.
#include <bench_matmul.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/peers.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(engine);
  return values;
}

struct Problem {
  std::int64_t M, N, K;
  std::vector<float> A, B, C;

  Problem(std::int64_t m, std::int64_t n, std::int64_t k)
      : M(m), N(n), K(k), A(random_floats(m * k, 1)), B(random_floats(k * n, 2)), C(static_cast<std::size_t>(m * n)) {}

  // C against sums in double precision, at 1000 random places and in every corner.
  void check(const std::string& impl) const {
    std::mt19937_64 engine(3);
    for (int p = 0; p < 1004; ++p) {
      const std::int64_t i = p < 4 ? (p & 1) * (M - 1) : static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(M));
      const std::int64_t j = p < 4 ? (p >> 1) * (N - 1) : static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(N));
      double exact = 0, size = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double term =
            static_cast<double>(A[static_cast<std::size_t>(i * K + k)]) * B[static_cast<std::size_t>(k * N + j)];
        exact += term, size += std::abs(term);
      }
      const double found = C[static_cast<std::size_t>(i * N + j)];
      if (!(std::abs(found - exact) <= 1e-6 * size + 1e-6))
        throw std::runtime_error(impl + " computes C(" + std::to_string(i) + ", " + std::to_string(j) +
                                 ") = " + std::to_string(found) + ", expected " + std::to_string(exact));
    }
  }
};

}  // namespace

void matmul_suite(Report& report, const Machine& machine) {
  if (!report.wants("matmul")) return;
  report.note(std::string(openblas_about()) + "; " + onednn_about() + "; " + eigen_about());
  for (const std::int64_t n : {1024, 2048}) {
    Problem p(n, n, n);
    const std::string shape = std::to_string(n) + "x" + std::to_string(n) + "x" + std::to_string(n);
    for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
      const int threads = k == 0 ? 1 : machine.threads;
      openblas_threads(threads), onednn_threads(threads), eigen_threads(threads);
      std::vector<Contender> contenders;
      auto enter = [&](const char* impl, MatmulPeer peer) {
        contenders.push_back({impl, [&p, peer] { peer(p.A.data(), p.B.data(), p.C.data(), p.M, p.N, p.K); }});
        std::fill(p.C.begin(), p.C.end(), NAN);
        contenders.back().run();
        p.check(impl);
      };
      if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
      apps::Tensor A(p.A.data(), {n, n}), B(p.B.data(), {n, n}), C(p.C.data(), {n, n});
      const bench_matmul_args args{.A = p.A.data(),
                                   .B = p.B.data(),
                                   .C = p.C.data(),
                                   .M = n,
                                   .K = n,
                                   .N = n,
                                   .A_stride0 = n,
                                   .B_stride0 = n,
                                   .C_stride0 = n};
      Workspace workspace;
      workspace.reserve(bench_matmul_workspace_bytes(&args, &workspace.context));
      std::fill(p.C.begin(), p.C.end(), NAN);
      contenders.push_back({"ashlar", [&] { apps::check(bench_matmul_with(A, B, C, &workspace.context), &workspace.error); }});
      contenders.back().run();
      p.check("ashlar");
      enter("openblas", openblas_matmul);
      enter("onednn", onednn_matmul);
      enter("eigen", eigen_matmul);
      report.race({"matmul", shape, threads, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n),
                   "GFLOP/s", machine.fma[k]},
                  contenders);
    }
  }
}

}  // namespace bench
