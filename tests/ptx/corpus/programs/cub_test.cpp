// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CUB and Thrust compute on the executor, by their own host code.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ptx/corpus/programs/device.h"

extern "C" {
int cub_sum(const int*, int*, int);
int cub_least(const float*, float*, int);
int cub_segments(const int*, int*, const int*, int);
int cub_scan(const int*, int*, int);
int cub_select(const int*, int*, int*, int);
int cub_runs(const int*, int*, int*, int*, int);
int cub_histogram(const unsigned char*, int*, int);
int cub_sort_pairs(const unsigned*, unsigned*, const int*, int*, int);
int cub_sort_down(const float*, float*, int);
int thrust_transform(const int*, const int*, int*, int);
int thrust_scan(const int*, int*, int*, int);
int thrust_sort(const int*, int*, int*, int*, int);
}

namespace ashlar::ptx_corpus {
namespace {

std::vector<int> ints(Rng& rng, std::size_t n, int lo, int hi) {
  std::vector<int> v(n);
  for (int& x : v) x = lo + static_cast<int>(rng.below(static_cast<std::uint64_t>(hi - lo + 1)));
  return v;
}

TEST_CASE("CUB: reductions") {
  Rng rng(101);
  for (const std::size_t n : {std::size_t(1), std::size_t(777), std::size_t(50'003)}) {  // one block, and two kernels
    const auto in = ints(rng, n, -1000, 1000);
    OnDevice<int> x(in), sum(1);
    REQUIRE(cub_sum(x.data(), sum.data(), static_cast<int>(n)) == 0);
    expect_same("sum", sum.get(), {std::accumulate(in.begin(), in.end(), 0)});
    const auto floats = random_values<float>(rng, n, -9, 9);
    OnDevice<float> f(floats), least(1);
    REQUIRE(cub_least(f.data(), least.data(), static_cast<int>(n)) == 0);
    expect_same("min", least.get(), {*std::min_element(floats.begin(), floats.end())});
  }
}

TEST_CASE("CUB: segments") {
  Rng rng(102);
  std::vector<int> begins = {0};
  for (int s = 0; s < 37; ++s) begins.push_back(begins.back() + static_cast<int>(rng.below(s % 5 == 0 ? 1500 : 40)));
  const auto in = ints(rng, static_cast<std::size_t>(begins.back()), -9, 9);
  OnDevice<int> x(in), b(begins), out(37);
  REQUIRE(cub_segments(x.data(), out.data(), b.data(), 37) == 0);
  std::vector<int> want;
  for (std::size_t s = 0; s < 37; ++s) want.push_back(std::accumulate(in.begin() + begins[s], in.begin() + begins[s + 1], 0));
  expect_same("segments", out.get(), want);
}

TEST_CASE("CUB: a scan in one pass, blocks that look back") {
  Rng rng(103);
  for (const std::size_t n : {std::size_t(100), std::size_t(23'456)}) {
    const auto in = ints(rng, n, -100, 100);
    OnDevice<int> x(in), out(n);
    REQUIRE(cub_scan(x.data(), out.data(), static_cast<int>(n)) == 0);
    std::vector<int> want(n);
    std::exclusive_scan(in.begin(), in.end(), want.begin(), 0);
    expect_same("scan", out.get(), want);
  }
}

TEST_CASE("CUB: selection, runs, a histogram") {
  Rng rng(104);
  const std::size_t n = 9'001;
  const auto in = ints(rng, n, -50, 50);
  OnDevice<int> x(in), out(n), count(1);
  REQUIRE(cub_select(x.data(), out.data(), count.data(), static_cast<int>(n)) == 0);
  std::vector<int> want;
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), [](int v) { return v % 2 == 0; });
  expect_same("count", count.get(), {static_cast<int>(want.size())});
  expect_same("selected", out.get(want.size()), want);

  auto runs = ints(rng, n, 0, 2);
  for (std::size_t i = 1; i < n; ++i)
    if (rng.below(4) != 0) runs[i] = runs[i - 1];
  std::vector<int> values, lengths;
  for (const int v : runs)
    if (values.empty() || values.back() != v)
      values.push_back(v), lengths.push_back(1);
    else
      ++lengths.back();
  OnDevice<int> r(runs), out_values(n), out_lengths(n);
  REQUIRE(cub_runs(r.data(), out_values.data(), out_lengths.data(), count.data(), static_cast<int>(n)) == 0);
  expect_same("runs", count.get(), {static_cast<int>(values.size())});
  expect_same("values", out_values.get(values.size()), values);
  expect_same("lengths", out_lengths.get(values.size()), lengths);

  std::vector<unsigned char> bytes(n);
  for (auto& v : bytes) v = static_cast<unsigned char>(rng.below(rng.below(256) + 1));
  OnDevice<unsigned char> b(bytes);
  OnDevice<int> bins(16);
  REQUIRE(cub_histogram(b.data(), bins.data(), static_cast<int>(n)) == 0);
  std::vector<int> counted(16);
  for (const unsigned char v : bytes) ++counted[v / 16];
  expect_same("histogram", bins.get(), counted);
}

TEST_CASE("CUB: radix sorts") {
  Rng rng(105);
  for (const std::size_t n : {std::size_t(1'000), std::size_t(20'011)}) {  // one block, and a pass for each byte of the keys
    auto keys = edgy_values<unsigned>(rng, n);
    for (std::size_t i = 0; i < n; i += 3) keys[i] = static_cast<unsigned>(rng.below(50));  // equal ones: the order stays
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    OnDevice<unsigned> k(keys), sorted(n);
    OnDevice<int> v(order), moved(n);
    REQUIRE(cub_sort_pairs(k.data(), sorted.data(), v.data(), moved.data(), static_cast<int>(n)) == 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)]; });
    std::vector<unsigned> want;
    for (const int i : order) want.push_back(keys[static_cast<std::size_t>(i)]);
    expect_same("keys", sorted.get(), want);
    expect_same("values", moved.get(), order);

    auto floats = random_values<float>(rng, n, -1e6, 1e6);
    OnDevice<float> f(floats), down(n);
    REQUIRE(cub_sort_down(f.data(), down.data(), static_cast<int>(n)) == 0);
    std::sort(floats.begin(), floats.end(), std::greater<>());
    expect_same("floats", down.get(), floats);
  }
}

TEST_CASE("Thrust: transform, for_each, sequence, reduce, scan") {
  Rng rng(106);
  const std::size_t n = 5'003;
  const auto a = ints(rng, n, -999, 999), b = ints(rng, n, -999, 999);
  std::vector<int> out(n), want(n);
  REQUIRE(thrust_transform(a.data(), b.data(), out.data(), static_cast<int>(n)) == 0);
  for (std::size_t i = 0; i < n; ++i) want[i] = (3 * a[i] - b[i]) / 2 + 1 + static_cast<int>(i);
  expect_same("transform", out, want);
  int total = 0;
  REQUIRE(thrust_scan(a.data(), out.data(), &total, static_cast<int>(n)) == 0);
  std::partial_sum(a.begin(), a.end(), want.begin());
  expect_same("scan", out, want);
  CHECK(total == want.back() + 5);
}

TEST_CASE("Thrust: sorts by radix and by merging, unique") {
  Rng rng(107);
  const std::size_t n = 7'001;
  auto in = ints(rng, n, -3000, 3000);
  std::vector<int> sorted(n), by_digit(n), distinct(n);
  const int r = thrust_sort(in.data(), sorted.data(), by_digit.data(), distinct.data(), static_cast<int>(n));
  REQUIRE(r < 0);
  distinct.resize(static_cast<std::size_t>(-1 - r));
  auto digits = in;
  std::sort(digits.begin(), digits.end(), [](int a, int b) { return a % 10 != b % 10 ? a % 10 < b % 10 : a < b; });
  std::sort(in.begin(), in.end());
  expect_same("sort", sorted, in);
  expect_same("stable_sort", by_digit, digits);
  in.erase(std::unique(in.begin(), in.end()), in.end());
  expect_same("unique", distinct, in);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
