// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices: sums in order of k, the accumulator first.
#include <cmath>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

struct Extents {
  std::size_t batches, m, n, k;
};
Extents extents(const Type& a, const Type& b) {
  const std::size_t r = a.shape.size();
  return {r == 3 ? static_cast<std::size_t>(a.shape[0]) : 1, static_cast<std::size_t>(a.shape[r - 2]),
          static_cast<std::size_t>(b.shape[r - 1]), static_cast<std::size_t>(a.shape[r - 1])};
}

std::vector<double> numbers(const Tile& t) {
  std::vector<double> v(t.size());
  const Kind k = t.type->element();
  for (std::size_t n = 0; n < v.size(); ++n) v[n] = number_of(t.bits[n], k);
  return v;
}

// An undefined factor makes its whole row or column undefined.
void spread(Tile& out, const Tile& a, const Tile& b, const Tile& c, const Extents& e) {
  for (std::size_t n = 0; n < out.size(); ++n) out.inherit(n, c, n);
  if (!a.vague.empty())
    for (std::size_t n = 0; n < a.size(); ++n)
      if (a.vague[n] != 0)
        for (std::size_t j = 0; j < e.n; ++j) out.inherit(n / e.k * e.n + j, a, n);
  if (!b.vague.empty())
    for (std::size_t n = 0; n < b.size(); ++n)
      if (b.vague[n] != 0)
        for (std::size_t i = 0; i < e.m; ++i) out.inherit((n / (e.k * e.n) * e.m + i) * e.n + n % e.n, b, n);
}

// f(accumulator, row of a and its first element, column by column of b)
template <class T, class F>
void rows(std::vector<T>& sums, const Extents& e, F f) {
  for (std::size_t row = 0; row < e.batches * e.m; ++row)
    for (std::size_t k = 0; k < e.k; ++k) f(&sums[row * e.n], row * e.k + k, (row / e.m * e.k + k) * e.n);
}

void finish(Run& r, const Op& op, const std::vector<double>& sums, const Extents& e) {
  Tile out = make(*op.results[0], sums.size());
  for (std::size_t n = 0; n < sums.size(); ++n) out.bits[n] = rounded(sums[n], out.type->element(), Rounding::kNearestEven);
  spread(out, r.tile(op, 0), r.tile(op, 1), r.tile(op, 2), e);
  r.set(op, std::move(out));
}

}  // namespace

void mma(Run& r, const Op& op) {
  const Extents e = extents(*r.tile(op, 0).type, *r.tile(op, 1).type);
  const std::vector<double> a = numbers(r.tile(op, 0)), b = numbers(r.tile(op, 1));
  std::vector<double> sums = numbers(r.tile(op, 2));
  const bool doubles = op.results[0]->element() == Kind::kF64;
  rows(sums, e, [&](double* sum, std::size_t x, std::size_t y) {
    if (doubles) {
      for (std::size_t j = 0; j < e.n; ++j) sum[j] = std::fma(a[x], b[y + j], sum[j]);
    } else {
      for (std::size_t j = 0; j < e.n; ++j) sum[j] += a[x] * b[y + j];
    }
  });
  finish(r, op, sums, e);
}

void mma_scaled(Run& r, const Op& op) {
  const Tile &p = r.tile(op, 3), &q = r.tile(op, 4);
  const Extents e = extents(*r.tile(op, 0).type, *r.tile(op, 1).type);
  std::vector<double> a = numbers(r.tile(op, 0)), b = numbers(r.tile(op, 1));
  const std::vector<double> x_scale = numbers(p), y_scale = numbers(q);
  const std::size_t scales = static_cast<std::size_t>(p.type->shape.back()), group = e.k / scales;
  for (std::size_t n = 0; n < a.size(); ++n) a[n] *= x_scale[n / e.k * scales + n % e.k / group];
  for (std::size_t n = 0; n < b.size(); ++n) {
    const std::size_t batch = n / (e.k * e.n), k = n / e.n % e.k;
    b[n] *= y_scale[(batch * scales + k / group) * e.n + n % e.n];
  }
  if (!p.vague.empty() || !q.vague.empty()) r.undefined(p.vague.empty() ? q : p, "a scale of a product");
  std::vector<double> sums = numbers(r.tile(op, 2));
  rows(sums, e, [&](double* sum, std::size_t x, std::size_t y) {
    for (std::size_t j = 0; j < e.n; ++j) sum[j] += a[x] * b[y + j];
  });
  finish(r, op, sums, e);
}

void mma_integers(Run& r, const Op& op) {
  const Tile &a = r.tile(op, 0), &b = r.tile(op, 1), &c = r.tile(op, 2);
  const Extents e = extents(*a.type, *b.type);
  const auto whole = [](const Tile& t, bool is_signed) {
    std::vector<i64> v;
    for (const u64 bits : t.bits) v.push_back(is_signed ? signed_of(bits, 8) : static_cast<i64>(bits));
    return v;
  };
  const std::vector<i64> x = whole(a, op.number(0) != 0), y = whole(b, op.number(1) != 0);
  std::vector<i64> sums;
  for (const u64 bits : c.bits) sums.push_back(signed_of(bits, 32));
  rows(sums, e, [&](i64* sum, std::size_t i, std::size_t at) {
    for (std::size_t j = 0; j < e.n; ++j) sum[j] += x[i] * y[at + j];
  });
  Tile out = make(*op.results[0], sums.size());
  for (std::size_t n = 0; n < sums.size(); ++n) out.bits[n] = static_cast<u64>(sums[n]) & mask_of(32);
  spread(out, a, b, c, e);
  r.set(op, std::move(out));
}

}  // namespace ashlar::tileir
