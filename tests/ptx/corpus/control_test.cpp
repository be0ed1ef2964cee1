// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of kernels/control.cu. Each runs twice: as nvcc optimizes, and as -G leaves it: locals in memory, nothing inlined.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

u32 bits(i32 v) { return static_cast<u32>(v); }
i32 number(u32 v) { return static_cast<i32>(v); }

template <class F>
void optimized_and_not(std::uint64_t seed, F test) {
  for (const char* file : {"control", "control_debug"}) {
    Corpus c(file, seed);
    INFO(std::string(file));
    test(c);
  }
}

TEST_CASE("calls") {
  optimized_and_not(21, [](Corpus& c) {
    const std::size_t n = 333;
    const auto a = edgy_values<i32>(c.rng, n);
    const auto f = random_values<float>(c.rng, n, -1000, 1000);
    struct Moved {
      i32 a;
      double b;
      i16 middle;
    };
    const auto moved = [&](std::size_t i) {
      Moved m{number(bits(a[i]) + u32(i)), double(f[i]) * 2,
              static_cast<i16>(i32(static_cast<i16>(i)) + static_cast<i16>(a[i]))};
      if (a[i] & 1) m.a = number(bits(m.a) + 1000), m.b *= 2;  // c[0] and c[2] stay
      return m;
    };
    const auto out = c.make<i64>(5 * n);
    c.launch("calls", grid_of(n, 100), c.put(a), c.put(f), out, i32(n));
    expect_rows<i64>("calls", c.get(out), n,
                     {{"weighed", [&](auto i) { return i64(number(3 * bits(a[i]) - 5 * u32(i) + (7 ^ bits(a[i])))); }},
                      {"mixed",
                       [&](auto i) {
                         const double v = double(f[i]) * double(a[i] & 0xffff), w = v + double(static_cast<i16>(i));
                         const double fused = std::fma(double(f[i]), double(a[i] & 0xffff), double(static_cast<i16>(i)));
                         CHECK(w == fused);  // the product is exact, so nvcc may contract
                         return static_cast<i64>(w - double(static_cast<u8>(a[i])));
                       }},
                      {"a", [&](auto i) { return i64(moved(i).a); }},
                      {"b", [&](auto i) { return static_cast<i64>(moved(i).b); }},
                      {"c", [&](auto i) { return i64(moved(i).middle); }}});
  });
}

TEST_CASE("recursion") {
  optimized_and_not(22, [](Corpus& c) {
    const std::size_t n = 75;
    const auto fibonacci = [](std::size_t k) {
      u32 p = 0, q = 1;
      for (; k > 0; --k) q += p, p = q - p;
      return p;
    };
    const auto out = c.make<u32>(2 * n);
    c.launch("recursion", grid_of(n, 50), out, i32(n));
    expect_rows<u32>("recursion", c.get(out), n,
                     {{"fibonacci", [&](auto i) { return fibonacci(i % 13); }},
                      {"ackermann", [&](auto i) {
                         return u32(i % 3 == 0 ? i % 5 + 1 : i % 3 == 1 ? i % 5 + 2 : 2 * (i % 5) + 3);
                       }}});
  });
}

TEST_CASE("pointers to functions, virtual functions") {
  optimized_and_not(23, [](Corpus& c) {
    const std::size_t n = 260;
    const auto a = edgy_values<i32>(c.rng, n), b = edgy_values<i32>(c.rng, n);
    const auto out = c.make<i32>(2 * n);
    c.launch("function_pointers", grid_of(n, 64), c.put(a), c.put(b), out, i32(n));
    expect_rows<i32>(
        "function_pointers", c.get(out), n,
        {{"table",
          [&](auto i) {
            const u32 k = bits(a[i]) % 3;
            return k == 0 ? number(bits(a[i]) + bits(b[i])) : k == 1 ? number(bits(a[i]) * bits(b[i])) : std::max(a[i], b[i]);
          }},
         {"virtual", [&](auto i) {
            const i32 side = a[i] & 63, width = b[i] & 31, k = static_cast<i32>(i);
            return b[i] % 2 == 0 ? side * side * k : width * k + k;
          }}});
  });
}

TEST_CASE("cases") {
  optimized_and_not(24, [](Corpus& c) {
    const std::size_t n = 500;
    std::vector<i32> a(n);
    for (i32& v : a) v = static_cast<i32>(c.rng.below(14)) - 1;
    for (std::size_t i = 0; i < n; i += 11) a[i] = 100;
    const auto b = edgy_values<i32>(c.rng, n);
    const auto out = c.make<i32>(2 * n);
    c.device.fill(out.address, 0x33, 2 * n * sizeof(i32));
    c.launch("cases", grid_of(n, 128), c.put(a), c.put(b), out, i32(n));
    const auto ones = [](i32 v) { return static_cast<i32>(std::popcount(bits(v))); };
    const auto want = [&](std::size_t i) -> i32 {
      const i32 v = b[i];
      if (a[i] == 0) return number(bits(v) * 3);
      if (a[i] == 1) return number(bits(v ^ 0x55) - 9);
      if (a[i] == 2) return number(bits(v) - 9);
      if (a[i] == 3) return ones(v);
      if (a[i] == 4) return 11;
      if (a[i] == 5) return number(v < 0 ? 0 - bits(v) : bits(v));
      if (a[i] == 6) return v >> 3;
      if (a[i] == 7) {
        u32 r = 0;
        for (int k = 0; k < 32; ++k) r |= ((bits(v) >> k) & 1) << (31 - k);
        return number(r);
      }
      if (a[i] == 8) return v & 8;
      if (a[i] == 9) return number(bits(v) << 4);
      return a[i] == 100 ? 1 : -1;
    };
    expect_rows<i32>("cases", c.get(out), n,
                     {{"result", want}, {"case 4", [&](auto i) { return a[i] == 4 ? b[i] : 0x33333333; }}});
  });
}

TEST_CASE("branches by an index") {
  optimized_and_not(32, [](Corpus& c) {
    const std::size_t n = 222;
    const auto a = edgy_values<u32>(c.rng, n), b = edgy_values<u32>(c.rng, n);
    const auto out = c.make<u32>(n);
    c.launch("indexed", grid_of(n, 64), c.put(a), c.put(b), out, i32(n));
    expect_rows<u32>("indexed", c.get(out), n, {{"result", [&](auto i) {
                                                   const u32 way = a[i] & 3;
                                                   return (way == 0 ? b[i] + 5 : way == 2 ? ~b[i] : b[i] * 3) ^ way;
                                                 }}});
  });
}

TEST_CASE("loops") {
  optimized_and_not(25, [](Corpus& c) {
    const std::size_t n = 190;
    std::vector<u32> a(n);
    for (u32& v : a) v = 1 + static_cast<u32>(c.rng.below(5000));
    struct Result {
      i32 steps = 0, found = -1, digits = 0;
    };
    std::vector<Result> want(n);
    for (std::size_t i = 0; i < n; ++i) {
      u32 x = a[i];
      Result& r = want[i];
      for (; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1)
        if (++r.steps > 200) break;
      for (i32 pq = 2 * 40 + 2; pq < 40 * 40 && r.found < 0; ++pq) {
        const i32 p = pq / 40, q = pq % 40;
        if (p >= 2 && q >= p && q % 3 != 0 && u32(p * q) == a[i] % 1000) r.found = p * 100 + q;
      }
      if (a[i] % 7 != 0)
        for (; x > 0; x >>= 1) r.digits += static_cast<i32>(x % 4);
    }
    const auto out = c.make<i32>(3 * n);
    c.launch("loops", grid_of(n, 64), c.put(a), out, i32(n));
    expect_rows<i32>("loops", c.get(out), n,
                     {{"steps", [&](auto i) { return want[i].steps; }},
                      {"found", [&](auto i) { return want[i].found; }},
                      {"digits", [&](auto i) { return want[i].digits; }}});
  });
}

TEST_CASE("mandelbrot") {
  optimized_and_not(26, [](Corpus& c) {
    const i32 width = 61, height = 37, most = 60;
    const auto out = c.make<i32>(static_cast<std::size_t>(width * height));
    c.launch("mandelbrot", {.grid = {4, 5, 1}, .block = {16, 8, 1}}, out, width, height, most);
    std::vector<i32> want;
    for (i32 py = 0; py < height; ++py)
      for (i32 px = 0; px < width; ++px) {
        const float cx = static_cast<float>(px) * (3.0f / 64) - 2.0f, cy = static_cast<float>(py) * (2.5f / 64) - 1.25f;
        float x = 0, y = 0;
        i32 k = 0;
        while (k < most && x * x + y * y <= 4.0f) {
          const float next = x * x - y * y + cx;
          y = std::fmaf(2.0f * x, y, cy), x = next, ++k;
        }
        want.push_back(k);
      }
    expect_same("mandelbrot", c.get(out), want);
  });
}

TEST_CASE("arrays of a thread") {
  optimized_and_not(27, [](Corpus& c) {
    const std::size_t n = 130;
    const auto a = edgy_values<i32>(c.rng, n);
    const auto sorted = [&](std::size_t i) {
      std::array<i32, 24> s{};
      for (u32 k = 0; k < 24; ++k) s[k] = number(bits(a[i]) * (k + 1) + k * k);
      std::sort(s.begin(), s.end());
      return s;
    };
    const auto out = c.make<i32>(3 * n);
    c.launch("local_arrays", grid_of(n, 64), c.put(a), out, i32(n));
    expect_rows<i32>("local_arrays", c.get(out), n,
                     {{"chosen", [&](auto i) { return sorted(i)[bits(a[i]) & 15]; }},
                      {"short", [&](auto i) { return i32(static_cast<i16>(a[(i + bits(a[i]) % 5) % n])); }},
                      {"largest", [&](auto i) { return sorted(i)[23]; }}});
  });
}

TEST_CASE("variables of the module") {
  optimized_and_not(28, [](Corpus& c) {
    const std::size_t n = 150;
    const auto a = edgy_values<i32>(c.rng, n);
    const double scale = 1.75;
    const auto [address, size] = c.device.variable(c.module(), "scale");
    REQUIRE(size == sizeof scale);
    c.device.write(address, &scale, sizeof scale);
    const auto out = c.make<double>(3 * n);
    c.launch("variables", grid_of(n, 64), c.put(a), out, i32(n));
    static constexpr double weights[] = {0.5, -1.25, 3, 0, 7.75, -0.125, 2};
    static constexpr char text[] = "functional";
    static constexpr const char* words[] = {"zero", "one", "two", "many"};
    expect_rows<double>("variables", c.get(out), n,
                        {{"tables", [&](auto i) { return weights[bits(a[i]) % 7] * scale + text[bits(a[i]) % 11]; }},
                         {"words", [&](auto i) { return double(words[bits(a[i]) % 4][i % 3]); }},
                         {"pointer", [&](auto) { return -7.0; }}});
    const auto [counters, bytes] = c.device.variable(c.module(), "counters");
    REQUIRE(bytes == 16);
    std::vector<i32> got(4);
    c.device.read(got.data(), counters, 16);
    expect_same("counters", got, {100, -7, i32(n * (n - 1) / 2), 0});
  });
}

struct Packed {
  char tag;
  i16 half;
  i32 whole;
  double wide;
  u8 bytes[5];
};
struct alignas(16) Quad {
  float x, y, z, w;
};
struct Pair {
  Packed packed;
  Quad quad;
};
static_assert(sizeof(Packed) == 24 && sizeof(Pair) == 48);

TEST_CASE("structures") {
  optimized_and_not(29, [](Corpus& c) {
    const std::size_t n = 97;
    std::vector<Packed> in(n);
    std::memset(in.data(), 0, n * sizeof(Packed));
    for (Packed& p : in) {
      p.tag = static_cast<char>(c.rng.next()), p.half = edgy<i16>(c.rng), p.whole = edgy<i32>(c.rng),
      p.wide = c.rng.between(-9, 9);
      for (u8& b : p.bytes) b = static_cast<u8>(c.rng.next());
    }
    Pair pair;
    std::memset(&pair, 0, sizeof pair);
    pair.packed = {17, -3, 0x1234567, 0.5, {1, 2, 3, 4, 250}}, pair.quad = {1.5f, 2.5f, -3.5f, 0.25f};
    const auto out = c.make<Packed>(n);
    const auto quads = c.make<Quad>(n);
    c.launch("structures", grid_of(n, 64), pair, c.put(in), out, quads, i32(n));
    const auto got = c.get(out);
    const auto got_quads = c.get(quads);
    std::vector<i64> seen, want;
    std::vector<float> seen_quads, want_quads;
    std::vector<double> seen_wide, want_wide;
    for (std::size_t i = 0; i < n; ++i) {
      const Packed& p = got[i];
      const i16 half = static_cast<i16>(in[i].half * -3);
      seen.insert(seen.end(), {p.tag, p.half, p.whole}),
          want.insert(want.end(), {static_cast<char>(in[i].tag + 17), half, in[i].whole ^ 0x1234567});
      for (u32 k = 0; k < 5; ++k)
        seen.push_back(p.bytes[k]), want.push_back(static_cast<u8>(in[i].bytes[k] + pair.packed.bytes[4 - k] + k));
      seen_wide.push_back(p.wide), want_wide.push_back(in[i].wide + 0.5);
      const Quad& q = got_quads[i];
      seen_quads.insert(seen_quads.end(), {q.x, q.y, q.z, q.w});
      want_quads.insert(want_quads.end(), {1.5f + static_cast<float>(i), 2.5f, -3.5f, 0.25f * static_cast<float>(half)});
    }
    expect_same("structures", seen, want);
    expect_same("structures, doubles", seen_wide, want_wide);
    expect_same("structures, float4", seen_quads, want_quads);
  });
}

TEST_CASE("bytes") {
  optimized_and_not(30, [](Corpus& c) {
    const std::size_t n = 111;
    const auto in = edgy_values<u8>(c.rng, 3 * n + 1);
    const auto out = c.make<u8>(3 * n);
    const auto packs = c.make<u32>(n);
    const auto seen = c.make<i32>(n);
    c.launch("bytes", grid_of(n, 64), c.put(in), out, packs, seen, i32(n));
    std::vector<u8> want;
    std::vector<u32> want_packs;
    std::vector<i32> want_seen;
    for (std::size_t i = 0; i < n; ++i) {
      const std::array<u8, 4> v = {in[3 * i + 1], in[3 * i + 2], in[3 * i + 3], in[3 * i]};
      u32 pack = 0;
      for (u32 k = 0; k < 4; ++k) pack |= u32(v[k]) << (8 * k);
      want_packs.push_back(pack), want_seen.push_back(number(pack + 1));
      want.insert(want.end(), v.begin(), v.begin() + 3);
    }
    expect_same("bytes", c.get(out), want);
    expect_same("packs", c.get(packs), want_packs);
    expect_same("volatile", c.get(seen), want_seen);
  });
}

TEST_CASE("printf") {
  optimized_and_not(31, [](Corpus& c) {
    const std::size_t n = 9;
    const auto a = edgy_values<i32>(c.rng, n);
    const ptx::Report r = c.launch("says", grid_of(n, 32), c.put(a), i32(n));
    std::string want;
    for (std::size_t i = 0; i < n; ++i) {
      char line[200];
      std::snprintf(line, sizeof line, "%d: %5d|%-6x|%llu|%c|%s|%.3f|%%\n", static_cast<int>(i), a[i], bits(a[i]),
                    static_cast<unsigned long long>(a[i]) * 1000000007ull, static_cast<int>('a' + i),
                    i % 2 != 0 ? "odd" : "even", a[i] / 8.0);
      want += line;
    }
    CHECK(r.printed == want);
  });
}

}  // namespace
}  // namespace ashlar::ptx_corpus
