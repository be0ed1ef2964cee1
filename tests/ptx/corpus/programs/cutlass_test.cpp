// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of CUTLASS on the executor, compared with sums in f64. Ragged m and n, as far as the alignment of rows allows.
#include <cmath>

#include "tests/ptx/corpus/formats.h"
#include "tests/ptx/corpus/programs/device.h"
#include "tests/ptx/corpus/programs/runtime.h"

extern "C" {
int cutlass_simt(const float*, const float*, const float*, float*, int, int, int);
int cutlass_f16(const std::uint16_t*, const std::uint16_t*, const float*, float*, int, int, int);
int cutlass_bf16(const std::uint16_t*, const std::uint16_t*, const std::uint16_t*, std::uint16_t*, int, int, int);
int cutlass_hopper(const std::uint16_t*, const std::uint16_t*, const float*, float*, int, int, int);
int cutlass_s8(const std::int8_t*, const std::int8_t*, const int*, int*, int, int, int);
}

namespace ashlar::ptx_corpus {
namespace {

struct Product {
  int m, n, k;
  std::size_t a() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(k); }
  std::size_t b() const { return static_cast<std::size_t>(k) * static_cast<std::size_t>(n); }
  std::size_t c() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
  // alpha a b + beta c of values; b by columns or rows
  template <class V>
  std::vector<double> reference(const V& a, const V& b, const V& c, bool columns, double alpha, double beta) const {
    std::vector<double> d;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int r = 0; r < k; ++r)
          sum += a[static_cast<std::size_t>(i * k + r)] * b[static_cast<std::size_t>(columns ? j * k + r : r * n + j)];
        d.push_back(alpha * sum + beta * c[static_cast<std::size_t>(i * n + j)]);
      }
    return d;
  }
};
std::vector<double> shorts(Rng& rng, std::size_t n, const ShortFloat& f) {
  std::vector<double> v(n);
  for (double& x : v) x = decoded(encoded(rng.between(-2, 2), f), f);
  return v;
}
std::vector<std::uint16_t> bits(const std::vector<double>& v, const ShortFloat& f) {
  std::vector<std::uint16_t> b;
  for (const double x : v) b.push_back(static_cast<std::uint16_t>(encoded(x, f)));
  return b;
}
template <class T>
std::vector<T> as(const std::vector<double>& v) {
  return {v.begin(), v.end()};
}

TEST_CASE("CUTLASS: f32 on the CUDA cores") {
  Rng rng(111);
  for (const Product p : {Product{67, 75, 53}, Product{128, 64, 16}}) {
    const auto a = shorts(rng, p.a(), kBrain), b = shorts(rng, p.b(), kBrain), c = shorts(rng, p.c(), kBrain);
    OnDevice<float> da(as<float>(a)), db(as<float>(b)), dc(as<float>(c)), dd(p.c());
    REQUIRE(cutlass_simt(da.data(), db.data(), dc.data(), dd.data(), p.m, p.n, p.k) == 0);
    expect_same("simt", dd.get(), as<float>(p.reference(a, b, c, false, 1.5, 0.5)), {.absolute = p.k * 8.0 * p.k * 0x1p-24});
  }
}

TEST_CASE("CUTLASS: f16 on tensor cores, three stages of cp.async") {
  Rng rng(112);
  for (const Product p : {Product{77, 68, 152}, Product{64, 64, 32}, Product{130, 36, 8}}) {
    const auto a = shorts(rng, p.a(), kHalf), b = shorts(rng, p.b(), kHalf), c = shorts(rng, p.c(), kHalf);
    OnDevice<std::uint16_t> da(bits(a, kHalf)), db(bits(b, kHalf));
    OnDevice<float> dc(as<float>(c)), dd(p.c());
    REQUIRE(cutlass_f16(da.data(), db.data(), dc.data(), dd.data(), p.m, p.n, p.k) == 0);
    expect_same("f16", dd.get(), as<float>(p.reference(a, b, c, true, 1.5, 0.5)), {.absolute = p.k * 8.0 * p.k * 0x1p-24});
  }
}

TEST_CASE("CUTLASS: bf16 on tensor cores, b transposed by ldmatrix, four stages") {
  Rng rng(113);
  for (const Product p : {Product{93, 136, 104}, Product{64, 128, 64}}) {
    const auto a = shorts(rng, p.a(), kBrain), b = shorts(rng, p.b(), kBrain), c = shorts(rng, p.c(), kBrain);
    OnDevice<std::uint16_t> da(bits(a, kBrain)), db(bits(b, kBrain)), dc(bits(c, kBrain)), dd(p.c());
    REQUIRE(cutlass_bf16(da.data(), db.data(), dc.data(), dd.data(), p.m, p.n, p.k) == 0);
    std::vector<float> got;
    for (const std::uint16_t v : dd.get()) got.push_back(from_brain(v));
    const auto want = p.reference(a, b, c, false, 1, 1);
    for (std::size_t i = 0; i < got.size(); ++i) {  // half a unit of bf16's last place, and the error of the sums
      const double most = std::ldexp(1.0, std::ilogb(std::fabs(want[i]) + 1e-3) - 8) + p.k * 4.0 * p.k * 0x1p-24;
      if (std::fabs(got[i] - want[i]) > most) judge("bf16", i, shown(got[i]), shown(want[i]));
    }
    CHECK(got.size() == want.size());
  }
}

TEST_CASE("CUTLASS: s8 on tensor cores") {
  Rng rng(114);
  const Product p{70, 84, 176};
  const auto a = edgy_values<std::int8_t>(rng, p.a()), b = edgy_values<std::int8_t>(rng, p.b());
  const auto c = edgy_values<std::int16_t>(rng, p.c());
  OnDevice<std::int8_t> da(a), db(b);
  OnDevice<int> dc(std::vector<int>(c.begin(), c.end())), dd(p.c());
  REQUIRE(cutlass_s8(da.data(), db.data(), dc.data(), dd.data(), p.m, p.n, p.k) == 0);
  const auto value = [](const auto& v) { return std::vector<double>(v.begin(), v.end()); };
  expect_same("s8", dd.get(), as<int>(p.reference(value(a), value(b), value(c), true, 1, 2)));
}

TEST_CASE("CUTLASS: bf16 by wgmma and tensor maps, clusters of two") {
  set_capability(90);
  Rng rng(115);
  for (const Product p : {Product{128, 128, 64}, Product{200, 136, 328}}) {
    const auto a = shorts(rng, p.a(), kBrain), b = shorts(rng, p.b(), kBrain), c = shorts(rng, p.c(), kBrain);
    OnDevice<std::uint16_t> da(bits(a, kBrain)), db(bits(b, kBrain));
    OnDevice<float> dc(as<float>(c)), dd(p.c());
    REQUIRE(cutlass_hopper(da.data(), db.data(), dc.data(), dd.data(), p.m, p.n, p.k) == 0);
    expect_same("hopper", dd.get(), as<float>(p.reference(a, b, c, true, 1.5, 0.5)), {.absolute = p.k * 8.0 * p.k * 0x1p-24});
  }
  set_capability(80);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
