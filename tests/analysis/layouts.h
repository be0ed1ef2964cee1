#pragma once
// Layouts that the tests of the layout functions share: known ones, by the manuals that define them, and random ones.
//
// All count elements. Variables: r, c (ids 1, 2) and, for tensors, n, h (3, 4); extents are constant unless said otherwise.
#include <array>
#include <map>
#include <string>
#include <vector>

#include <ashlar/analysis/layout.h>
#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

#include <ashlar/analysis/evaluate.h>

#include "tests/support/xorshift.h"

namespace ashlar::test {

using namespace ashlar::analysis;
using ir::Id;

inline Expr num(std::int64_t v) { return ir::index(v); }
inline Expr operator+(const Expr& a, const Expr& b) { return ir::add(a, b); }
inline Expr operator-(const Expr& a, const Expr& b) { return ir::sub(a, b); }
inline Expr operator*(const Expr& a, const Expr& b) { return ir::mul(a, b); }
inline Expr operator*(const Expr& a, std::int64_t b) { return ir::mul(a, num(b)); }
inline Expr operator/(const Expr& a, std::int64_t b) { return ir::div(a, num(b)); }
inline Expr operator%(const Expr& a, std::int64_t b) { return ir::mod(a, num(b)); }
inline Expr operator^(const Expr& a, const Expr& b) { return ir::binary(ir::Op::bit_xor, a, b); }

inline const Expr r = ir::var(1, "r"), c = ir::var(2, "c"), n = ir::var(3, "n"), h = ir::var(4, "h"), S = ir::var(9, "S");

struct Random : Xorshift {
  explicit Random(std::uint64_t seed) : Xorshift{seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull} {
    for (int k = 0; k < 8; ++k) next();
  }
};

struct Case {
  std::string name;
  std::vector<Id> vars;
  std::vector<std::int64_t> extents;
  Expr address;
  Facts facts() const {
    Facts f;
    for (std::size_t d = 0; d < vars.size(); ++d) f.bound(vars[d], 0, extents[d] - 1);
    return f;
  }
  IndexBox box() const {
    IndexBox b;
    for (const std::int64_t e : extents) b.lo.push_back(num(0)), b.extent.push_back(num(e));
    return b;
  }
  Assignment at(std::span<const std::int64_t> x) const {
    Assignment a;
    for (std::size_t d = 0; d < vars.size(); ++d) a.push_back({vars[d], "x", x[d]});
    return a;
  }
  std::int64_t operator()(std::span<const std::int64_t> x) const { return *evaluate(address, at(x)); }
};

template <class F>
void each(std::span<const std::int64_t> extents, F&& f) {  // every index, the last one fastest
  std::vector<std::int64_t> x(extents.size(), 0);
  for (const std::int64_t e : extents)
    if (e == 0) return;
  for (;;) {
    f(std::span<const std::int64_t>(x));
    std::size_t d = extents.size();
    while (d > 0 && ++x[d - 1] == extents[d - 1]) x[--d] = 0;
    if (d == 0) return;
  }
}

// A box of `rows` times one span of a swizzle of 32, 64 or 128 bytes, of elements of `bytes`: granules of 16 bytes, whose
// number in the span is changed by the bits of the byte address from 128 on (CUDA C++ Programming Guide, "TMA swizzle").
inline Expr tma_swizzled(const Expr& plain, int span, int bytes) {
  const std::int64_t granule = 16 / bytes, line = 128 / bytes, count = span / 16;
  return plain ^ (plain / line % count * granule);
}

inline std::vector<Case> known_layouts() {
  const std::vector<Id> rc{1, 2};
  std::vector<Case> all{
      {"row-major", rc, {16, 32}, r * 32 + c},
      {"row-major of odd size", rc, {7, 13}, r * 13 + c},
      {"column-major", rc, {32, 16}, c * 32 + r},
      {"padded by 1", rc, {32, 32}, r * 33 + c},
      {"panels of 16 columns", rc, {24, 48}, c / 16 * 384 + r * 16 + c % 16},
      {"NCHWc with c = 8", {3, 2, 4, 1}, {2, 24, 3, 5}, ((n * 3 + c / 8) * 3 + h) * 40 + r * 8 + c % 8},
      {"rows exchanged by xor", rc, {16, 64}, r * 64 + (c ^ (r % 8 * 8))},
      {"Gray code", {2}, {64}, c ^ (c / 2)},
  };
  for (const int span : {32, 64, 128})
    for (const int bytes : {1, 2, 4})
      all.push_back({"TMA swizzle of " + std::to_string(span) + " bytes, elements of " + std::to_string(bytes),
                     rc,
                     {32, span / bytes},
                     tma_swizzled(r * (span / bytes) + c, span, bytes)});
  return all;
}

// A sum or xor of digits of two or three indices: many are not layouts.
inline Case random_layout(std::uint64_t seed) {
  Random g(seed);
  Case k{"seed " + std::to_string(seed), {1, 2}, {}, num(0)};
  if (g.coin(3)) k.vars.push_back(3);
  const Expr names[] = {r, c, n};
  const bool powers = !g.coin(3);
  std::int64_t stride = 1;
  std::vector<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>> digits;  // dim, divisor, modulus
  for (std::size_t d = 0; d < k.vars.size(); ++d) {
    const std::int64_t extent = powers ? std::int64_t{1} << g.in(0, 4) : g.in(1, 20);
    k.extents.push_back(extent);
    const std::int64_t split = powers ? std::int64_t{1} << g.in(0, 3) : g.in(1, 5);
    if (split > 1 && split < extent) {
      digits.push_back({d, {1, split}});
      digits.push_back({d, {split, 0}});
    } else {
      digits.push_back({d, {1, 0}});
    }
  }
  for (std::size_t i = digits.size(); i > 1; --i) std::swap(digits[i - 1], digits[static_cast<std::size_t>(g.in(0, i - 1))]);
  for (const auto& [d, digit] : digits) {
    Expr v = names[d];
    if (digit.first > 1) v = v / digit.first;
    if (digit.second) v = v % digit.second;
    const std::int64_t e = k.extents[d];
    const std::int64_t count = digit.second ? std::min(digit.second, e) : (e + digit.first - 1) / digit.first;
    if (g.coin(5) && !ir::is_int(k.address)) {
      k.address = k.address ^ (v * (std::int64_t{1} << g.in(0, 4)));
      if (!g.coin(3)) k.address = k.address + v * stride;  // the xor above a sum: often bit-linear still
    } else {
      k.address = k.address + v * (g.coin(12) ? g.in(0, 9) : stride);
    }
    stride *= g.coin(8) ? count + 1 : count;
  }
  if (powers && g.coin(2))
    k.address = k.address ^ (names[g.in(0, 1)] % (std::int64_t{1} << g.in(0, 3)) * (std::int64_t{1} << g.in(0, 3)));
  return k;
}

}  // namespace ashlar::test
