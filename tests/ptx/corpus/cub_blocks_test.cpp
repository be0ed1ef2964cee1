// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of kernels/cub_blocks.cu.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {
namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;
constexpr std::size_t kThreads = 128, kItems = 4, kTile = kThreads * kItems;
ptx::Grid tiles(std::size_t count) { return {.grid = {static_cast<u32>(count), 1, 1}, .block = {kThreads, 1, 1}}; }

std::vector<i32> ints(Rng& rng, std::size_t n, i32 lo, i32 hi) {
  std::vector<i32> v(n);
  for (i32& x : v) x = lo + static_cast<i32>(rng.below(static_cast<u32>(hi - lo + 1)));
  return v;
}

TEST_CASE("CUB: reductions of a block") {
  Corpus c("cub_blocks", 121);
  const std::size_t count = 3;
  const auto in = ints(c.rng, count * kTile, -1000, 1000);
  for (const i32 valid : {1, 37, 96, 128}) {
    const auto out = c.make<i32>(4 * count);
    c.launch("block_reductions", tiles(count), c.put(in), out, valid);
    std::vector<i32> want;
    for (auto at = in.begin(); at != in.end(); at += kTile) {
      i32 part = 0, greatest = at[1];
      for (i32 t = 0; t < valid; ++t) part += at[4 * t], greatest = std::max(greatest, at[4 * t + 1]);
      want.insert(want.end(), {std::accumulate(at, at + kTile, 0), *std::max_element(at, at + kTile), part, greatest});
    }
    expect_same("block_reductions", c.get(out), want);
  }
}

TEST_CASE("CUB: scans of a block") {
  Corpus c("cub_blocks", 122);
  const std::size_t n = 2 * kTile + 333;
  const auto in = ints(c.rng, n, -1000, 1000);
  const auto out = c.make<i32>(n), greatest = c.make<i32>(n), totals = c.make<i32>(3);
  c.launch("block_scans", tiles(3), c.put(in), out, greatest, totals, static_cast<i32>(n));
  std::vector<i32> want(n), want_greatest(n), want_totals;
  for (std::size_t first = 0; first < n; first += kTile) {
    const auto at = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(std::min(first + kTile, n));
    std::exclusive_scan(in.begin() + at, in.begin() + end, want.begin() + at, 0);
    std::partial_sum(in.begin() + at, in.begin() + end, want_greatest.begin() + at,
                     [](i32 a, i32 b) { return std::max(a, b); });
    want_totals.push_back(std::accumulate(in.begin() + at, in.begin() + end, 0));
  }
  expect_same("block_scans", c.get(out), want);
  expect_same("block_scans, maxima", c.get(greatest), want_greatest);
  expect_same("block_scans, totals", c.get(totals), want_totals);
}

TEST_CASE("CUB: sorts of a block") {
  Corpus c("cub_blocks", 123);
  const std::size_t n = 2 * kTile;
  auto keys = edgy_values<u32>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 2) keys[i] = static_cast<u32>(c.rng.below(9));
  auto values = edgy_values<i32>(c.rng, n);
  const auto sorted = c.make<u32>(n);
  const auto places = c.make<i32>(n), merged = c.make<i32>(n);
  c.launch("block_sorts", tiles(2), c.put(keys), sorted, places, c.put(values), merged);
  std::vector<u32> want;
  std::vector<i32> order;
  for (std::size_t first = 0; first < n; first += kTile) {
    std::vector<i32> at(kTile);
    std::iota(at.begin(), at.end(), 0);
    std::stable_sort(at.begin(), at.end(), [&](i32 a, i32 b) {
      return keys[first + static_cast<std::size_t>(a)] < keys[first + static_cast<std::size_t>(b)];
    });
    for (const i32 i : at) want.push_back(keys[first + static_cast<std::size_t>(i)]), order.push_back(i);
    std::sort(values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(first + kTile));
  }
  expect_same("block_sorts", c.get(sorted), want);
  expect_same("block_sorts, places", c.get(places), order);
  expect_same("block_sorts, merged", c.get(merged), values);
}

TEST_CASE("CUB: exchange, heads of runs") {
  Corpus c("cub_blocks", 124);
  const auto in = ints(c.rng, kTile, 0, 2);
  const auto striped = c.make<i32>(kTile), heads = c.make<i32>(kTile);
  c.launch("block_exchange", tiles(1), c.put(in), striped, heads);
  std::vector<i32> want(kTile), want_heads(kTile);
  for (std::size_t t = 0; t < kThreads; ++t)
    for (std::size_t k = 0; k < kItems; ++k) want[t * kItems + k] = in[k * kThreads + t];
  for (std::size_t i = 0; i < kTile; ++i) want_heads[i] = i == 0 || in[i] != in[i - 1];
  expect_same("block_exchange", c.get(striped), want);
  expect_same("block_exchange, heads", c.get(heads), want_heads);
}

TEST_CASE("CUB: warps") {
  Corpus c("cub_blocks", 125);
  const auto in = ints(c.rng, 2 * kThreads, -50, 50);
  const auto scanned = c.make<i32>(kThreads), sums = c.make<i32>(kThreads / 16), sorted = c.make<i32>(2 * kThreads);
  c.launch("warps", tiles(1), c.put(in), scanned, sums, sorted);
  std::vector<i32> want(kThreads), want_sums(kThreads / 16), want_sorted;
  for (std::size_t first = 0; first < kThreads; first += 32) {
    const auto at = in.begin() + static_cast<std::ptrdiff_t>(first);
    std::exclusive_scan(at, at + 32, want.begin() + static_cast<std::ptrdiff_t>(first), 0);
    std::vector<i32> both(at, at + 32);
    both.insert(both.end(), at + kThreads, at + kThreads + 32);
    std::sort(both.begin(), both.end());
    want_sorted.insert(want_sorted.end(), both.begin(), both.end());
  }
  for (std::size_t t = 0; t < kThreads; ++t) want_sums[t / 16] += in[t];
  expect_same("warps", c.get(scanned), want);
  expect_same("warps, sums", c.get(sums), want_sums);
  expect_same("warps, sorted", c.get(sorted), want_sorted);
}

TEST_CASE("Thrust in a thread") {
  Corpus c("cub_blocks", 126);
  const i32 n = 45, columns = 19;
  auto rows = ints(c.rng, static_cast<std::size_t>(n * columns), -99, 99);
  const auto data = c.put(rows);
  const auto sums = c.make<i32>(45), found = c.make<i32>(45);
  c.launch("thrust_in_threads", grid_of(45, 32), data, sums, found, columns, n);
  std::vector<i32> want_sums, want_found;
  for (auto at = rows.begin(); at != rows.end(); at += columns) {
    want_sums.push_back(std::accumulate(at, at + columns, 1));
    for (i32 k = 1; k < columns; ++k) at[k] = std::max(at[k], at[k - 1]);
    want_found.push_back(static_cast<i32>(std::find_if(at, at + columns, [](i32 v) { return v >= 60; }) - at));
    std::reverse(at, at + columns);
  }
  expect_same("thrust::inclusive_scan, reverse", c.get(data), rows);
  expect_same("thrust::reduce", c.get(sums), want_sums);
  expect_same("thrust::lower_bound", c.get(found), want_found);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
