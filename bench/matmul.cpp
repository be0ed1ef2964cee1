// The matrix product, C[M, N] = A[M, K] B[K, N] in f32, beside OpenBLAS, oneDNN and Eigen.
#include <bench_matmul.h>

#include <fmt/core.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/kernels/product_shapes.h"
#include "bench/peers/onednn_library.h"
#include "bench/peers/peers.h"
#include "bench/arrays.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

struct Problem {
  std::int64_t M, N, K;
  Array<float> A, B, C;

  Problem(std::int64_t m, std::int64_t n, std::int64_t k)
      : M(m),
        N(n),
        K(k),
        A(random_array<float>(m * k, -1, 1, 1)),
        B(random_array<float>(k * n, -1, 1, 2)),
        C(static_cast<std::size_t>(m * n)) {}

  // What was found for C against sums in double precision, at 1000 random places and in every corner.
  void check(const std::string& impl, const Array<float>& found) const {
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
      const double value = found[static_cast<std::size_t>(i * N + j)];
      if (!(std::abs(value - exact) <= 1e-6 * size + 1e-6))
        throw std::runtime_error(impl + " computes C(" + std::to_string(i) + ", " + std::to_string(j) +
                                 ") = " + std::to_string(value) + ", expected " + std::to_string(exact));
    }
  }
};

// One call of the kernel on memory of its own.
struct Call {
  Problem& p;
  Array<float> C;
  apps::Tensor tA, tB, tC;
  Workspace workspace;

  Call(Problem& problem, bool one_thread)
      : p(problem),
        C(problem.C.size(), NAN),
        tA(problem.A.data(), {problem.M, problem.K}),
        tB(problem.B.data(), {problem.K, problem.N}),
        tC(C.data(), {problem.M, problem.N}) {
    if (one_thread) workspace.context.parallelism = 1, workspace.context.parallel_for = nullptr;
    const bench_matmul_args args{.A = p.A.data(),
                                 .B = p.B.data(),
                                 .C = C.data(),
                                 .M = p.M,
                                 .K = p.K,
                                 .N = p.N,
                                 .A_stride0 = p.K,
                                 .B_stride0 = p.N,
                                 .C_stride0 = p.N};
    workspace.reserve(bench_matmul_workspace_bytes(&args, &workspace.context));
  }
  void run() { apps::check(bench_matmul_with(tA, tB, tC, &workspace.context), &workspace.error); }
};

// As many products as there are threads, each on one thread and memory of its own, begun together: what no product on all of
// them can be faster than.
void run_apart(std::vector<std::unique_ptr<Call>>& calls) {
  std::atomic<std::size_t> ready{0};
  auto body = [&](Call& call) {
    ready.fetch_add(1);
    while (ready.load() < calls.size()) std::this_thread::yield();
    call.run();
  };
  std::vector<std::thread> others;
  for (std::size_t k = 1; k < calls.size(); ++k) others.emplace_back(body, std::ref(*calls[k]));
  body(*calls[0]);
  for (std::thread& other : others) other.join();
}

// The figures that the goals are about: medians, and the fastest runs, which a busy machine spoils less.
void conclude(Report& report, const std::string& shape, int threads) {
  auto of = [&](const char* impl) { return *report.find("matmul", shape, threads, impl); };
  auto ratio = [](const Record& a, const Record& b, double work = 1) {  // how much more a does in the same time
    return fmt::format("{:.2f} ({:.2f} in the fastest runs)", work * b.median_ns / a.median_ns, work * b.min_ns / a.min_ns);
  };
  const Record ours = of("ashlar");
  if (threads == 1) {
    const Record peer = of("openblas").median_ns < of("onednn").median_ns ? of("openblas") : of("onednn");
    report.note(fmt::format("one thread: {} of {}; goal: at least 0.90", ratio(ours, peer), peer.impl));
  } else {
    report.note(fmt::format("{} threads: {} times one thread; goal on two: at least 1.80; products apart: {}", threads,
                            ratio(ours, of("alone")), ratio(of("apart"), of("alone"), threads)));
  }
}

}  // namespace

void matmul_suite(Report& report, const Machine& machine) {
  if (!report.wants("matmul")) return;
  std::string peers = std::string(openblas_about()) + "; " + eigen_about();
  for (const OnednnVersion& v : onednns()) peers += std::string("; oneDNN ") + v.library->version;
  report.note(peers);
  if (const char* forced = std::getenv("OPENBLAS_CORETYPE"))
    report.note(std::string("OPENBLAS_CORETYPE=") + forced +
                " chose OpenBLAS's kernels: not what it would take on this machine");
  for (const auto& [M, N, K] : matmul_shapes) {
    Problem p(M, N, K);
    const std::string shape = fmt::format("{}x{}x{}", M, N, K);
    const double work = 2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
    for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
      const int threads = k == 0 ? 1 : machine.threads;
      openblas_threads(threads), onednn_threads(threads), eigen_threads(threads);
      if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
      std::vector<Contender> contenders;
      auto enter = [&](const std::string& impl, std::function<void()> run) {
        contenders.push_back({impl, std::move(run)});
        std::fill(p.C.begin(), p.C.end(), NAN);
        contenders.back().run();
        p.check(impl, p.C);
      };
      Call ours(p, false);
      contenders.push_back({"ashlar", [&] { ours.run(); }});
      ours.run();
      p.check("ashlar", ours.C);
      enter("openblas", [&] { openblas_matmul(p.A.data(), p.B.data(), p.C.data(), M, N, K); });
      for (const OnednnVersion& v : onednns())
        enter(v.impl, v.library->matmul(p.A.data(), p.B.data(), p.C.data(), M, N, K).run);
      enter("eigen", [&] { eigen_matmul(p.A.data(), p.B.data(), p.C.data(), M, N, K); });
      std::vector<std::unique_ptr<Call>> apart;
      if (threads > 1) {
        for (int c = 0; c < threads; ++c) apart.push_back(std::make_unique<Call>(p, true));
        contenders.push_back({"apart", [&] { run_apart(apart); }, threads, Role::other});
        run_apart(apart);
        for (const auto& call : apart) p.check("apart", call->C);
        contenders.push_back({"alone", [&] { apart[0]->run(); }, 1, Role::other});
      }
      report.race({"matmul", shape, threads, work, "GFLOP/s", machine.fma[k]}, contenders);
      conclude(report, shape, threads);
    }
  }
}

}  // namespace bench
