// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of the kernels of kernels/blocks.cu that use shared memory and asynchronous copies. Sums of floats are made in the
// kernel's order, or of numbers whose sums are exact in any.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;

std::vector<float> eighths(Rng& rng, std::size_t n) {  // sums of a few of them, halved, are exact
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(static_cast<i32>(rng.below(4001)) - 2000) / 8;
  return v;
}
std::vector<i32> small_ints(Rng& rng, std::size_t n, i32 lo, i32 hi) {
  std::vector<i32> v(n);
  for (i32& x : v) x = lo + static_cast<i32>(rng.below(static_cast<u32>(hi - lo + 1)));
  return v;
}

TEST_CASE("a product by tiles") {
  Corpus c("blocks", 41);
  const i32 m = 45, n = 37, k = 51;
  const auto a = random_values<float>(c.rng, static_cast<std::size_t>(m * k), -2, 2),
             b = random_values<float>(c.rng, static_cast<std::size_t>(k * n), -2, 2);
  const auto out = c.make<float>(static_cast<std::size_t>(m * n));
  c.launch("matmul_tiled", {.grid = {3, 3, 1}, .block = {16, 16, 1}}, c.put(a), c.put(b), out, m, n, k);
  std::vector<float> want;
  for (i32 i = 0; i < m; ++i)
    for (i32 j = 0; j < n; ++j) {
      float sum = 0;
      for (i32 r = 0; r < 64; ++r)
        sum = std::fma(r < k ? a[static_cast<std::size_t>(i * k + r)] : 0, r < k ? b[static_cast<std::size_t>(r * n + j)] : 0,
                       sum);
      want.push_back(sum);
    }
  expect_same("matmul_tiled", c.get(out), want);
}

TEST_CASE("a transposition") {
  Corpus c("blocks", 42);
  const i32 rows = 50, columns = 71;
  const auto in = random_values<double>(c.rng, static_cast<std::size_t>(rows * columns), -1, 1);
  const auto out = c.make<double>(in.size());
  c.launch("transpose", {.grid = {3, 2, 1}, .block = {32, 8, 1}}, c.put(in), out, rows, columns);
  std::vector<double> want;
  for (i32 j = 0; j < columns; ++j)
    for (i32 i = 0; i < rows; ++i) want.push_back(in[static_cast<std::size_t>(i * columns + j)]);
  expect_same("transpose", c.get(out), want);
}

TEST_CASE("prefix sums, dynamic shared memory") {
  Corpus c("blocks", 43);
  const std::size_t n = 1000, size = 192;
  const auto in = edgy_values<i32>(c.rng, n);
  const auto out = c.make<i32>(n), totals = c.make<i32>(6);
  ptx::Grid grid = grid_of(n, size);
  grid.dynamic_shared = 2 * size * sizeof(i32);
  c.launch("prefix_sums", grid, c.put(in), out, totals, i32(n));
  std::vector<i32> want(n), want_totals(6);
  u32 sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum = (i % size == 0 ? 0 : sum) + static_cast<u32>(in[i]);
    want[i] = want_totals[i / size] = static_cast<i32>(sum);
  }
  expect_same("prefix_sums", c.get(out), want);
  expect_same("totals", c.get(totals), want_totals);
}

TEST_CASE("a bitonic sort") {
  Corpus c("blocks", 44);
  auto values = edgy_values<u32>(c.rng, 3 * 256);
  const auto out = c.put(values);
  c.launch("bitonic_sort", {.grid = {3, 1, 1}, .block = {256, 1, 1}}, out);
  for (auto at = values.begin(); at != values.end(); at += 256) std::sort(at, at + 256);
  expect_same("bitonic_sort", c.get(out), values);
}

TEST_CASE("a stencil with a rim") {
  Corpus c("blocks", 45);
  const i32 width = 75, height = 21;
  const auto in = eighths(c.rng, static_cast<std::size_t>(width * height));
  const auto out = c.make<float>(in.size());
  c.launch("stencil", {.grid = {3, 3, 1}, .block = {32, 8, 1}}, c.put(in), out, width, height);
  const auto at = [&](i32 x, i32 y) {
    return in[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1))];
  };
  std::vector<float> want;
  for (i32 y = 0; y < height; ++y)
    for (i32 x = 0; x < width; ++x)
      want.push_back(at(x, y) / 2 + (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y)) / 8);
  expect_same("stencil", c.get(out), want);
}

TEST_CASE("barriers that vote") {
  Corpus c("blocks", 46);
  const auto a = small_ints(c.rng, 160, -49, 98);
  for (const i32 special : {0, 99, -50}) {
    auto b = a;
    if (special != 0) b[77] = special;
    const auto out = c.make<i32>(3 * b.size());
    c.launch("barrier_votes", {.block = {160, 1, 1}}, c.put(b), out);
    const i32 count = static_cast<i32>(std::count_if(b.begin(), b.end(), [](i32 v) { return v > 0; }));
    expect_rows<i32>("barrier_votes", c.get(out), b.size(),
                     {{"count", [&](auto) { return count; }},
                      {"and", [&](auto) { return i32(special != -50); }},
                      {"or", [&](auto) { return i32(special == 99); }}});
  }
}

TEST_CASE("a histogram") {
  Corpus c("blocks", 47);
  const std::size_t n = 3001;
  std::vector<u8> in(n);
  for (u8& v : in) v = static_cast<u8>(c.rng.below(c.rng.below(256) + 1));
  const auto out = c.put(std::vector<u32>(256, 5));
  c.launch("histogram", {.grid = {3, 1, 1}, .block = {96, 1, 1}}, c.put(in), out, i32(n));
  std::vector<u32> want(256, 5);
  for (const u8 v : in) ++want[v];
  expect_same("histogram", c.get(out), want);
}

TEST_CASE("the last block adds up") {
  Corpus c("blocks", 48);
  const std::size_t n = 900;
  const auto in = small_ints(c.rng, n, -5, 5);
  const auto out = c.make<i32>(1);
  c.launch("last_block", grid_of(n, 64), c.put(in), c.make<i32>(15), c.put(std::vector<u32>{0}), out, i32(n));
  expect_same("last_block", c.get(out), {static_cast<i32>(std::count_if(in.begin(), in.end(), [](i32 v) { return v > 0; }))});
}

struct alignas(16) Quad {
  float x, y, z, w;
};

TEST_CASE("asynchronous copies: a ring of three") {
  Corpus c("blocks", 49);
  for (const i32 tiles : {1, 2, 7}) {
    const auto flat = eighths(c.rng, static_cast<std::size_t>(3 * tiles * 64 * 4));
    const auto out = c.make<float>(3 * 64 * 4);
    c.launch("pipelined", {.grid = {3, 1, 1}, .block = {64, 1, 1}}, c.put(flat), out, tiles);
    std::vector<float> want;
    for (i32 block = 0; block < 3; ++block)
      for (i32 t = 0; t < 64; ++t) {
        Quad sum{0, 0, 0, 0};
        for (i32 k = 0; k < tiles; ++k) {
          const float* v = &flat[static_cast<std::size_t>(((block * tiles + k) * 64 + 63 - t) * 4)];
          sum.x += v[0], sum.y += v[1] * 2, sum.z = std::max(sum.z, v[2]), sum.w -= v[3];
        }
        want.insert(want.end(), {sum.x, sum.y, sum.z, sum.w});
      }
    expect_same("pipelined", c.get(out), want);
  }
}

TEST_CASE("asynchronous copies of all sizes") {
  Corpus c("blocks", 50);
  const i32 n = 21;
  const auto in = edgy_values<i32>(c.rng, 128);
  const auto out = c.make<i32>(64 + 128);
  c.launch("copied_sizes", {.block = {32, 1, 1}}, c.put(in), out, n);
  const auto got = c.get(out);
  std::vector<i32> want(got);
  for (u32 t = 0; t < 32; ++t) {
    want[t] = static_cast<i32>(31 - t) < n ? in[31 - t] : 0;
    want[32 + t] = in[63 - t];
    for (u32 k = 0; k < 4; ++k) {
      const u32 at = 127 - 4 * t - k;
      want[64 + 4 * t + k] =
          (at / 4) % 2 != 0 && at % 4 >= 2 ? 0 : in[at];  // odd threads copy 8 bytes, the others' half is zero
    }
  }
  expect_same("copied_sizes", got, want);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
