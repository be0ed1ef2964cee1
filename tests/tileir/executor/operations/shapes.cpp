// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that move elements and compute nothing.
#include <algorithm>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

std::vector<i64> strides_of(const std::vector<i64>& shape) {
  std::vector<i64> s(shape.size());
  i64 n = 1;
  for (std::size_t d = shape.size(); d-- > 0;) s[d] = n, n *= shape[d];
  return s;
}

// Calls f(element of `shape`, offset) for all of them in order, where the offset is that of the index by `strides` from
// `start`.
template <class F>
void each(const std::vector<i64>& shape, const std::vector<i64>& strides, i64 start, F f) {
  i64 total = 1;
  for (const i64 d : shape) total *= d;
  std::vector<i64> index(shape.size(), 0);
  i64 offset = start;
  for (i64 n = 0; n < total; ++n) {
    f(static_cast<std::size_t>(n), static_cast<std::size_t>(offset));
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

Tile moved(const Tile& x, const Type& to, const std::vector<i64>& strides, i64 start) {
  Tile out = make(to, static_cast<std::size_t>(to.elements()));
  each(to.shape, strides, start, [&](std::size_t n, std::size_t m) {
    out.bits[n] = x.bits[m];
    out.inherit(n, x, m);
  });
  return out;
}

// Where the slice with these numbers begins.
i64 slice_start(const Run& r, const Op& op, int operand, const Type& part, const Type& whole) {
  const std::vector<i64> strides = strides_of(whole.shape);
  i64 start = 0;
  for (std::size_t d = 0; d < whole.shape.size(); ++d) {
    const i64 n = r.scalar(op, operand, d, "the number of a slice");
    if (n < 0 || n >= whole.shape[d] / part.shape[d])
      r.fault(FaultKind::kInvalid, "there is no slice " + std::to_string(n) + " of " +
                                       std::to_string(whole.shape[d] / part.shape[d]) + " along dimension " +
                                       std::to_string(d));
    start += n * part.shape[d] * strides[d];
  }
  return start;
}

int packed_bits(Kind k) { return k == Kind::kTf32 ? 32 : bits_of(k); }

}  // namespace

void constant(Run& r, const Op& op) {
  Tile t = make(*op.results[0], 0);
  t.bits = elements_of(r.image.constants[op.number(0)], *op.results[0], op.offset);
  r.set(op, std::move(t));
}

void iota(Run& r, const Op& op) {
  Tile t = make(*op.results[0], static_cast<std::size_t>(op.results[0]->shape[0]));
  for (std::size_t n = 0; n < t.size(); ++n) t.bits[n] = n;
  r.set(op, std::move(t));
}

void reshape(Run& r, const Op& op) {
  Tile t = r.tile(op, 0);
  t.type = op.results[0];
  r.set(op, std::move(t));
}

void broadcast(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  std::vector<i64> strides = strides_of(x.type->shape);
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (x.type->shape[d] == 1) strides[d] = 0;
  r.set(op, moved(x, *op.results[0], strides, 0));
}

void permute(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  const std::vector<i64> of = strides_of(x.type->shape);
  std::vector<i64> strides;
  for (const i64 d : op.attributes[0].numbers) strides.push_back(of[static_cast<std::size_t>(d)]);
  r.set(op, moved(x, *op.results[0], strides, 0));
}

void cat(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = r.tile(op, 1);
  const std::size_t dim = op.number(0);
  const std::vector<i64> strides = strides_of(op.results[0]->shape);
  Tile out = make(*op.results[0], static_cast<std::size_t>(op.results[0]->elements()));
  for (const Tile* part : {&x, &y}) {
    each(part->type->shape, strides, part == &x ? 0 : x.type->shape[dim] * strides[dim], [&](std::size_t n, std::size_t m) {
      out.bits[m] = part->bits[n];
      out.inherit(m, *part, n);
    });
  }
  r.set(op, std::move(out));
}

void extract(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  r.set(op, moved(x, *op.results[0], strides_of(x.type->shape), slice_start(r, op, 1, *op.results[0], *x.type)));
}

void insert(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  Tile out = r.tile(op, 1);
  each(x.type->shape, strides_of(out.type->shape), slice_start(r, op, 2, *x.type, *out.type),
       [&](std::size_t n, std::size_t m) {
         out.bits[m] = x.bits[n];
         if (!out.vague.empty()) out.vague[m] = 0;
         out.inherit(m, x, n);
       });
  r.set(op, std::move(out));
}

void select(Run& r, const Op& op) {
  const Tile &c = r.tile(op, 0), &x = r.tile(op, 1), &y = r.tile(op, 2);
  const std::size_t n = std::max({c.size(), x.size(), y.size()});
  Tile out = make(*op.results[0], n);
  for (std::size_t k = 0; k < n; ++k) {  // what is not chosen may be anything
    const Tile& from = c.at(k) != 0 ? x : y;
    out.bits[k] = from.at(k);
    out.inherit(k, from, k);
    if (x.at(k) != y.at(k)) out.inherit(k, c, k);
  }
  r.set(op, std::move(out));
}

void pack(Run& r, const Op& op) {  // the first element in the lowest bits
  const Tile& x = r.tile(op, 0);
  const std::size_t bits = static_cast<std::size_t>(packed_bits(x.type->element()));
  const int up = x.type->element() == Kind::kTf32 ? 13 : 0;
  Tile out = make(*op.results[0], static_cast<std::size_t>(op.results[0]->elements()));
  for (std::size_t n = 0; n < x.size(); ++n) {
    for (std::size_t b = 0; b < bits; b += 4) {
      const std::size_t at = n * bits + b;
      out.bits[at / 8] |= (x.bits[n] << up >> b & 15) << (at % 8);
      out.inherit(at / 8, x, n);
    }
  }
  r.set(op, std::move(out));
}

void unpack(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  const Type& type = *op.results[0];
  const std::size_t bits = static_cast<std::size_t>(packed_bits(type.element()));
  Tile out = make(type, static_cast<std::size_t>(type.elements()));
  for (std::size_t n = 0; n < out.size(); ++n) {
    for (std::size_t b = 0; b < bits; b += 4) {
      const std::size_t at = n * bits + b;
      out.bits[n] |= (x.bits[at / 8] >> (at % 8) & 15) << b;
      out.inherit(n, x, at / 8);
    }
    if (type.element() == Kind::kTf32) out.bits[n] >>= 13;
  }
  r.set(op, std::move(out));
}

}  // namespace ashlar::tileir
