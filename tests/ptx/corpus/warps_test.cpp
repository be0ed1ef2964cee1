// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of the kernels of kernels/blocks.cu that use warps and atomics.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/ptx/corpus/corpus.h"
#include "tests/ptx/corpus/formats.h"

namespace ashlar::ptx_corpus {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;

std::vector<i32> between(Rng& rng, std::size_t n, i32 lo, i32 hi) {
  std::vector<i32> v(n);
  for (i32& x : v) x = lo + static_cast<i32>(rng.below(static_cast<u32>(hi - lo + 1)));
  return v;
}

TEST_CASE("sums by shuffles") {
  Corpus c("blocks", 51);
  const std::size_t n = 1234, blocks_of = 5;
  const auto in = random_values<float>(c.rng, n, -5, 5);
  const auto whole = edgy_values<i32>(c.rng, n);
  const auto out = c.make<float>(blocks_of);
  const auto greatest = c.put(std::vector<i32>{-12345});
  c.launch("warp_sums", grid_of(n, 256), c.put(in), c.put(whole), out, greatest, i32(n));
  const auto tree = [](std::vector<float> v) {  // as shuffles down add, in place of lanes beyond the end the lane itself
    for (std::size_t d = v.size() / 2; d > 0; d /= 2) {
      const auto old = v;
      for (std::size_t l = 0; l < v.size(); ++l) v[l] = old[l] + old[l + d < v.size() ? l + d : l];
    }
    return v[0];
  };
  std::vector<float> want;
  for (std::size_t block = 0; block < blocks_of; ++block) {
    std::vector<float> sums;
    for (std::size_t warp = 0; warp < 8; ++warp) {
      std::vector<float> v(32, 0);
      for (std::size_t l = 0; l < 32; ++l)
        if (const std::size_t i = block * 256 + warp * 32 + l; i < n) v[l] = in[i];
      sums.push_back(tree(v));
    }
    want.push_back(tree(sums));
  }
  expect_same("warp_sums", c.get(out), want);
  expect_same("greatest", c.get(greatest), {*std::max_element(whole.begin(), whole.end())});
}

// f of a lane and the values of its warp.
using OfWarp = std::function<u32(u32 lane, const std::vector<u32>& v)>;
template <class T>
std::vector<Row<T>> of_warps(const std::vector<i32>& a, const std::vector<std::pair<const char*, OfWarp>>& columns) {
  std::vector<Row<T>> rows;
  for (const auto& [name, f] : columns)
    rows.push_back({name, [&a, f](std::size_t i) {
                      const auto first = a.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
                      return static_cast<T>(f(static_cast<u32>(i % 32), std::vector<u32>(first, first + 32)));
                    }});
  return rows;
}
template <class P>
u32 lanes_where(const std::vector<u32>& v, P p) {
  u32 mask = 0;
  for (u32 l = 0; l < 32; ++l) mask |= (p(v[l]) ? 1u : 0u) << l;
  return mask;
}
i32 sign(u32 v) { return static_cast<i32>(v); }

TEST_CASE("votes, matches, shuffles, reductions of a warp") {
  Corpus c("blocks", 52);
  const std::size_t n = 256;
  auto a = edgy_values<i32>(c.rng, n);
  for (std::size_t i = 32; i < 64; ++i) a[i] = 96 + static_cast<i32>(c.rng.below(16));  // all the same above bit 4
  for (std::size_t i = 64; i < 96; ++i) a[i] = static_cast<i32>(c.rng.below(5));
  for (std::size_t i = 96; i < 128; ++i) a[i] = 2;
  a[130] = 7;
  const auto own = [](const std::vector<u32>& v, u32 lane, u32 from, bool there) { return v[there ? from : lane]; };
  const std::vector<std::pair<const char*, OfWarp>> columns = {
      {"ballot", [](u32, const auto& v) { return lanes_where(v, [](u32 x) { return x & 1; }); }},
      {"any", [](u32, const auto& v) { return u32(lanes_where(v, [](u32 x) { return x == 7; }) != 0); }},
      {"all", [](u32, const auto& v) { return u32(lanes_where(v, [](u32 x) { return sign(x) >= 0; }) == ~0u); }},
      {"match any", [](u32 l, const auto& v) { return lanes_where(v, [&](u32 x) { return x == v[l]; }); }},
      {"match all",
       [](u32, const auto& v) {
         return lanes_where(v, [&](u32 x) { return sign(x) >> 4 == sign(v[0]) >> 4; }) == ~0u ? ~0u : 0u;
       }},
      {"match all, whether",
       [](u32, const auto& v) { return u32(lanes_where(v, [&](u32 x) { return sign(x) >> 4 == sign(v[0]) >> 4; }) == ~0u); }},
      {"scan by a ballot",
       [](u32 l, const auto& v) {
         return static_cast<u32>(std::count_if(v.begin(), v.begin() + l, [](u32 x) { return (x & 2) != 0; }));
       }},
      {"shfl", [](u32 l, const auto& v) { return v[v[l] & 31]; }},
      {"shfl up", [&](u32 l, const auto& v) { return own(v, l, l - 3, l >= 3); }},
      {"shfl of eight", [](u32 l, const auto& v) { return v[l / 8 * 8 + v[l] % 8]; }},
      {"shfl down of sixteen", [&](u32 l, const auto& v) { return own(v, l, l + 5, l % 16 + 5 < 16); }},
      {"sum", [](u32, const auto& v) { return std::accumulate(v.begin(), v.end(), 0u); }},
      {"least",
       [](u32, const auto& v) {
         return *std::min_element(v.begin(), v.end(), [](u32 x, u32 y) { return sign(x) < sign(y); });
       }},
      {"greatest", [](u32, const auto& v) { return *std::max_element(v.begin(), v.end()); }},
      {"xor", [](u32, const auto& v) { return std::accumulate(v.begin(), v.end(), 0u, [](u32 x, u32 y) { return x ^ y; }); }},
      {"and", [](u32, const auto& v) { return std::accumulate(v.begin(), v.end(), ~0u, [](u32 x, u32 y) { return x & y; }); }},
      {"or", [](u32, const auto& v) { return std::accumulate(v.begin(), v.end(), 0u, [](u32 x, u32 y) { return x | y; }); }},
      {"sum of the odd",
       [](u32 l, const auto& v) { return v[l] & 1 ? u32(std::popcount(lanes_where(v, [](u32 x) { return x & 1; }))) : 0; }},
  };
  auto rows = of_warps<u32>(a, columns);
  rows.push_back({"shfl of 64 bits, low", [](std::size_t i) { return static_cast<u32>(i ^ 1); }});
  rows.push_back({"shfl of 64 bits, high", [&](std::size_t i) { return static_cast<u32>(a[i ^ 1]); }});
  rows.push_back({"eq", [](std::size_t i) { return 1u << (i % 32); }});
  rows.push_back({"lt", [](std::size_t i) { return (1u << (i % 32)) - 1; }});
  rows.push_back({"le", [](std::size_t i) { return (2u << (i % 32)) - 1; }});
  rows.push_back({"gt", [](std::size_t i) { return ~((2u << (i % 32)) - 1); }});
  rows.push_back({"ge", [](std::size_t i) { return ~((1u << (i % 32)) - 1); }});
  const auto out = c.make<u32>(rows.size() * n);
  c.launch("warp_votes", grid_of(n, 128), c.put(a), out);
  expect_rows("warp_votes", c.get(out), n, rows);
}

TEST_CASE("cooperative groups") {
  Corpus c("blocks", 53);
  const std::size_t n = 192;
  const auto a = between(c.rng, n, -100, 100);
  const auto sum = [](const std::vector<u32>& v, u32 from, u32 to) {
    return std::accumulate(v.begin() + from, v.begin() + to, 0u);
  };
  const auto third = [](u32 x) { return sign(x) % 3 == 0; };
  const std::vector<std::pair<const char*, OfWarp>> columns = {
      {"sum", [&](u32, const auto& v) { return sum(v, 0, 32); }},
      {"least of eight",
       [](u32 l, const auto& v) {
         i32 least = sign(v[l]);
         for (u32 k = l / 8 * 8; k < l / 8 * 8 + 8; ++k) least = std::min(least, sign(v[k]));
         return static_cast<u32>(least);
       }},
      {"inclusive scan", [&](u32 l, const auto& v) { return sum(v, 0, l + 1); }},
      {"exclusive scan of eight", [&](u32 l, const auto& v) { return sum(v, l / 8 * 8, l); }},
      {"rank of the tile, in its warp", [](u32 l, const auto&) { return l / 8; }},
      {"shfl of eight", [](u32 l, const auto& v) { return v[l / 8 * 8 + 3]; }},
      {"ballot of eight",
       [](u32 l, const auto& v) { return (lanes_where(v, [](u32 x) { return sign(x) > 0; }) >> (l / 8 * 8)) & 255; }},
      {"any of eight",
       [](u32 l, const auto& v) {
         return u32(((lanes_where(v, [](u32 x) { return sign(x) > 90; }) >> (l / 8 * 8)) & 255) != 0);
       }},
      {"size of the coalesced",
       [&](u32 l, const auto& v) { return third(v[l]) ? u32(std::popcount(lanes_where(v, third))) : 0; }},
      {"rank among the coalesced",
       [&](u32 l, const auto& v) { return third(v[l]) ? u32(std::popcount(lanes_where(v, third) & ((1u << l) - 1))) : 0; }},
      {"size of the label",
       [](u32 l, const auto& v) { return u32(std::popcount(lanes_where(v, [&](u32 x) { return ((x ^ v[l]) & 1) == 0; }))); }},
      {"sum of the label",
       [](u32 l, const auto& v) {
         return std::accumulate(v.begin(), v.end(), 0u, [&](u32 s, u32 x) { return (x ^ v[l]) & 1 ? s : s + x; });
       }},
  };
  auto rows = of_warps<i32>(a, columns);
  const auto out = c.make<i32>(rows.size() * n);
  c.launch("groups", grid_of(n, 96), c.put(a), out);
  expect_rows("groups", c.get(out), n, rows);
}

struct Sums {
  i32 add, least, greatest, both;
  u32 above, any, parity, wraps, down;
  u32 exchanged, falls;
  u64 wide, widest, swapped;
  float f;
  double d;
  u16 h[2];
  bool operator==(const Sums&) const = default;
};

void account(Sums& s, const std::vector<i32>& values) {
  u32 add = static_cast<u32>(s.add);
  double h[2] = {decoded(s.h[0], kHalf), decoded(s.h[1], kHalf)};
  for (const i32 v : values) {
    const u32 u = static_cast<u32>(v);
    add += u;
    s.least = std::min(s.least, v), s.greatest = std::max(s.greatest, v), s.both &= v | 0x0ff0;
    s.above = std::max(s.above, u), s.any |= u & 0xf0f, s.parity ^= u;
    s.wraps = s.wraps >= 9 ? 0 : s.wraps + 1;
    s.down -= 3;
    s.wide += static_cast<u64>(static_cast<std::int64_t>(v)), s.widest = std::max(s.widest, u64(u) << 20),
                                                              s.swapped = s.swapped * 3 + 1;
    s.f += static_cast<float>(v & 15), s.d += v * 0.5, h[0] += v & 3, h[1] -= 1;
  }
  s.add = static_cast<i32>(add), s.h[0] = to_half(h[0]), s.h[1] = to_half(h[1]);
}

TEST_CASE("atomics") {
  Corpus c("blocks", 54);
  const std::size_t n = 333, threads = 480, size = 96;
  const auto a = edgy_values<i32>(c.rng, n);
  const Sums start{5, 100, -100, -1, 3, 0, 0x55, 4, 7, 99, 300, 1u << 31, 0, 12345, 1.0f, -0.5, {to_half(8), to_half(4)}};
  const auto sums = c.put(std::vector<Sums>{start, start});
  const auto before = c.make<u32>(threads + threads / size);
  c.launch("atomics", grid_of(threads, size), c.put(a), c.put(std::vector<Sums>{start}), sums, before, i32(n));
  std::vector<i32> all, first;
  for (std::size_t i = 0; i < threads; ++i) all.push_back(a[i % n]);
  first.assign(all.begin(), all.begin() + size);
  Sums want = start, shared = start;
  account(want, all), account(shared, first);
  for (std::size_t i = 0; i < threads; ++i) want.falls = want.falls == 0 || want.falls > 1000 ? 1000 : want.falls - 1;
  const auto got = c.get(sums);
  auto seen = c.get(before);
  want.exchanged = got[0].exchanged;
  CHECK(got[0] == want);
  CHECK(got[1] == shared);
  // each block left its number, and found the one before: all of them and the first value
  std::vector<u32> numbers(seen.begin() + threads, seen.end());
  numbers.push_back(got[0].exchanged);
  std::sort(numbers.begin(), numbers.end());
  expect_same("exchanged", numbers, {1, 2, 3, 4, 5, 99});
  seen.resize(threads);
  std::sort(seen.begin(), seen.end());
  std::vector<u32> wraps;
  for (std::size_t i = 0; i < threads; ++i) wraps.push_back(static_cast<u32>((i + 4) % 10));
  std::sort(wraps.begin(), wraps.end());
  expect_same("what atomicInc found", seen, wraps);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
