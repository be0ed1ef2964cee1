// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/random.h>

namespace ashlar::ops {

std::array<Expr, 4> philox4x32(std::array<Expr, 4> c, std::array<Expr, 2> k, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    const Expr high0 = mul_high(c[0], 0xD2511F53u), low0 = c[0] * 0xD2511F53u;
    const Expr high1 = mul_high(c[2], 0xCD9E8D57u), low1 = c[2] * 0xCD9E8D57u;
    c = {high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

namespace detail {

Expr number_in_order(const Indices& i, const std::vector<Expr>& extents) {
  Expr e = ir::index(0);
  for (int d = 0; d < i.rank(); ++d) e = ir::add(ir::mul(e, extents[static_cast<std::size_t>(d)]), i[d]);
  return e;
}
std::vector<Expr> extents_of(const Shape& s, Where where) {
  std::vector<Expr> all;
  for (int d = 0; d < s.rank(); ++d) all.push_back(s[DimAt(d, where)]);
  return all;
}

}  // namespace detail

RandomBlocks random_blocks(const Expr& count, const RandomOptions& o, Where where) {
  const Expr blocks = detail::plain((count + 3) / 4);
  const auto word = [](const Operand& v, int upper) {
    const Expr wide = u64(v);
    return u32(upper ? wide >> 32 : wide);
  };
  RandomBlocks r;
  for (int round = 0; round < 10; round += 2)
    r.rounds.push_back(compute(
        "philox", {{"block", blocks}},
        [&](Var b) {
          std::array<Expr, 4> c;
          if (round == 0) {
            const Expr at = u64(o.offset) + u64(b);
            c = {u32(at), u32(at >> 32), u32(o.stream), u32(0)};
          } else {
            for (std::size_t w = 0; w < 4; ++w) c[w] = r.rounds.back()[w](b);
          }
          const auto passed = static_cast<std::uint32_t>(round);
          const std::array<Expr, 2> key{word(o.seed, 0) + 0x9E3779B9u * passed, word(o.seed, 1) + 0xBB67AE85u * passed};
          const std::array<Expr, 4> after = philox4x32(c, key, 2);
          return values(after[0], after[1], after[2], after[3]);
        },
        where));
  return r;
}

namespace {

using namespace detail;

Expr random_word(const RandomBlocks& blocks, const Expr& element, Where where) {
  const Expr block = in_range(element / 4, 0, blocks.words()[0].extent(0, where)), w = element % 4;
  const auto& words = blocks.words();
  return select(w == 0, words[0](block), select(w == 1, words[1](block), select(w == 2, words[2](block), words[3](block))));
}
}  // namespace

namespace detail {

Expr unit(const Expr& bits) { return f32(bits >> 8) * 0x1p-24f; }

}  // namespace detail

Random random_bits(const Shape& shape, const RandomOptions& o, Where where) {
  return detail::random("random_bits", shape, o, where,
                        [&](const RandomBlocks& b, const Expr& e) { return random_word(b, e, where); });
}
Random random_uniform(const Shape& shape, Operand low, Operand high, const RandomOptions& o, Where where) {
  return detail::random("random_uniform", shape, o, where, [&](const RandomBlocks& b, const Expr& e) {
    const Expr from = f32(low);
    return from + detail::unit(random_word(b, e, where)) * (f32(high) - from);
  });
}
Random random_normal(const Shape& shape, Operand mean, Operand deviation, const RandomOptions& o, Where where) {
  return detail::random("random_normal", shape, o, where, [&](const RandomBlocks& b, const Expr& e) {
    const auto& words = b.words();
    const Expr block = in_range(e / 4, 0, words[0].extent(0, where)), second = e % 4 >= 2;
    const Expr u = f32((select(second, words[2](block), words[0](block)) >> 8) + 1) * 0x1p-24f;
    const Expr angle = detail::unit(select(second, words[3](block), words[1](block))) * 6.28318530717958647692;
    const Expr radius = ashlar::sqrt(ashlar::log(u) * -2);
    return f32(mean) + f32(deviation) * radius * select(e % 2 == 0, ashlar::cos(angle), ashlar::sin(angle));
  });
}

Dropout dropout(const Tensor& x, double p, const RandomOptions& o, Where where) {
  detail::expect_float("dropout", "x", x, where);
  detail::expect(p >= 0 && p < 1, "dropout", "p from 0 to less than 1", std::to_string(p), where);
  const auto threshold = static_cast<std::uint32_t>(p * 0x1p24);
  const Random r = detail::random("dropout_mask", x.shape(where), o, where, [&](const RandomBlocks& b, const Expr& e) {
    return random_word(b, e, where) >> 8 >= threshold;
  });
  const Type type = x.type(where);
  const Tensor result = compute(
      "dropout", x.shape(where),
      [&](Indices i) { return select(r.result(i, where), type(accumulator(type)(x(i, where)) * (1 / (1 - p))), type(0)); },
      where);
  return {r.blocks, r.result, result};
}

}  // namespace ashlar::ops
