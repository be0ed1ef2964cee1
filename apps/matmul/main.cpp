// matmul [M N K]: C = relu(A B + bias) on random matrices with the generated kernel, checked against Eigen, and its speed
// beside Eigen's and, where it was installed when this was built, OpenBLAS's, on one thread and on all.
//
//   matmul 1000 700 513
//   1000 x 700 x 513, f32
//     1 thread    ashlar 180.3 GFLOP/s   eigen 112.0   openblas 170.2
//     2 threads   ashlar 352.7 GFLOP/s   eigen 220.8   openblas 331.0
//     largest difference from eigen 3.1e-07 of the size of the terms, expected at most 2.0e-06
//
// Exit codes: 0, 1 when something failed, 2 for a wrong command line.
#include <matmul_bias.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <vector>

#include "apps/matmul/peers.h"
#include "apps/support/tensor.h"
#include "apps/support/timing.h"

namespace {

constexpr double tolerance = 2e-6;

std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(engine);
  return values;
}

// The largest |found - expected| as a share of the bound on the size of a sum of K + 1 terms, each at most 1.
double difference(const std::vector<float>& found, const std::vector<float>& expected, std::int64_t K) {
  double largest = 0;
  for (std::size_t e = 0; e < found.size(); ++e) {
    const double d = std::abs(static_cast<double>(found[e]) - expected[e]) / static_cast<double>(K + 1);
    if (!(d <= largest)) largest = d;  // NaN too
  }
  return largest;
}

int run(std::int64_t M, std::int64_t N, std::int64_t K) {
  const std::vector<float> A = random_floats(M * K, 1), B = random_floats(K * N, 2), bias = random_floats(N, 3);
  std::vector<float> C(static_cast<std::size_t>(M * N), NAN), eigen_C(C), openblas_C(C);
  apps::Tensor tA(A.data(), {M, K}), tB(B.data(), {K, N}), tbias(bias.data(), {N}), tC(C.data(), {M, N});
  std::printf("%lld x %lld x %lld, f32\n", static_cast<long long>(M), static_cast<long long>(N), static_cast<long long>(K));
  const int all = ashlar_threads();
  const double operations = 2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
  double largest = 0;
  for (const int threads : {1, all}) {
    if (threads == 1 && all == 1 && largest > 0) break;
    apps::check(ashlar_set_threads(threads));
    std::vector<std::function<void()>> runs = {
        [&] { apps::check(matmul_bias(tA, tB, tbias, tC)); },
        [&] { peers::eigen({A.data(), B.data(), bias.data(), eigen_C.data(), M, N, K}, threads); }};
#ifdef APPS_OPENBLAS
    runs.push_back([&] { peers::openblas({A.data(), B.data(), bias.data(), openblas_C.data(), M, N, K}, threads); });
#endif
    const std::vector<apps::Times> times =
        apps::race(runs, 1.0, threads > 1 ? apps::several_threads : apps::Conditions{.clock = apps::Clock::thread});
    const char* names[] = {"ashlar", "eigen", "openblas"};
    std::printf("  %d thread%s  ", threads, threads == 1 ? " " : "s");
    for (std::size_t k = 0; k < times.size(); ++k)
      std::printf("  %s %.1f%s", names[k], operations / times[k].median / 1e9, k == 0 ? " GFLOP/s" : "");
    std::printf("\n");
    const double d = difference(C, eigen_C, K);
    if (!(d <= largest)) largest = d;
    if (threads == all) break;
  }
  std::printf("  largest difference from eigen %.1e of the size of the terms, expected at most %.1e\n", largest, tolerance);
  if (!(largest <= tolerance)) {
    std::fprintf(stderr, "matmul: the kernel and Eigen disagree\n");
    return 1;
  }
  return 0;
}

bool extent(const char* text, std::int64_t* value) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, *value);
  return error == std::errc() && stop == end && *value >= 1 && *value <= 65536;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    std::fprintf(stderr, "usage: matmul [M N K]\n");
    return 2;
  }
  std::int64_t sizes[3] = {1000, 700, 513};
  for (int k = 1; k < argc; ++k)
    if (!extent(argv[k], &sizes[k - 1])) {
      std::fprintf(stderr, "matmul: %s is \"%s\", expected a whole number from 1 to 65536\n",
                   k == 1   ? "M"
                   : k == 2 ? "N"
                            : "K",
                   argv[k]);
      return 2;
    }
  try {
    return run(sizes[0], sizes[1], sizes[2]);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "matmul: not enough memory for these sizes\n");
  } catch (const std::exception& e) { std::fprintf(stderr, "matmul: %s\n", e.what()); }
  return 1;
}
