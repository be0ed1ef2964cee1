// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra over GF(2) on machine words: a matrix is the list of its columns.
#include <algorithm>
#include <bit>
#include <numeric>

#include <ashlar/analysis/layout.h>

namespace ashlar::analysis {

namespace {

std::uint64_t ones(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

// Columns in echelon form, each with the combination of inputs that makes it.
struct Echelon {
  struct Row {
    std::uint64_t image, inputs;
  };
  std::vector<Row> rows;              // leading bits descend
  std::vector<std::uint64_t> kernel;  // combinations whose image is 0

  explicit Echelon(const BitLinear& m) {
    for (std::size_t k = 0; k < m.columns.size(); ++k) {
      Row r = reduce({m.columns[k], std::uint64_t{1} << k});
      if (r.image)
        rows.insert(std::find_if(rows.begin(), rows.end(), [&](const Row& x) { return x.image < r.image; }), r);
      else
        kernel.push_back(r.inputs);
    }
  }
  Row reduce(Row r) const {
    for (const Row& row : rows)
      if (r.image >> (std::bit_width(row.image) - 1) & 1) r = {r.image ^ row.image, r.inputs ^ row.inputs};
    return r;
  }
};

}  // namespace

int BitLinear::in_bits() const { return std::accumulate(in.begin(), in.end(), 0); }
int BitLinear::out_bits() const { return std::accumulate(out.begin(), out.end(), 0); }

std::uint64_t BitLinear::image(std::uint64_t packed) const {
  std::uint64_t r = constant;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (packed >> k & 1) r ^= columns[k];
  return r;
}

std::uint64_t BitLinear::pack(std::span<const std::int64_t> values) const {
  std::uint64_t packed = 0;
  int at = 0;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (in[d]) packed |= (static_cast<std::uint64_t>(values[d]) & ones(in[d])) << at;
    at += in[d];
  }
  return packed;
}

std::vector<std::int64_t> BitLinear::unpack(std::uint64_t packed) const {
  std::vector<std::int64_t> values;
  int at = 0;
  for (const int bits : out) {
    values.push_back(bits ? static_cast<std::int64_t>(packed >> at & ones(bits)) : 0);
    at += bits;
  }
  return values;
}

std::vector<std::int64_t> BitLinear::operator()(std::span<const std::int64_t> x) const { return unpack(image(pack(x))); }

int rank(const BitLinear& m) { return static_cast<int>(Echelon(m).rows.size()); }
std::vector<std::uint64_t> kernel(const BitLinear& m) { return Echelon(m).kernel; }

std::optional<std::uint64_t> preimage(const BitLinear& m, std::uint64_t output) {
  const Echelon::Row r = Echelon(m).reduce({output ^ m.constant, 0});
  if (r.image) return std::nullopt;
  return r.inputs;
}

std::optional<BitLinear> inverse(const BitLinear& m) {
  Echelon e(m);
  if (!e.kernel.empty()) return std::nullopt;
  // Each leading bit alone: then the bits of the output at the leading places say which inputs there are.
  for (auto& a : e.rows) {
    const int lead = static_cast<int>(std::bit_width(a.image)) - 1;
    for (auto& b : e.rows)
      if (&a != &b && (b.image >> lead & 1)) b = {b.image ^ a.image, b.inputs ^ a.inputs};
  }
  BitLinear r;
  r.in = m.out;
  r.out = m.in;
  r.columns.assign(static_cast<std::size_t>(m.out_bits()), 0);
  for (const auto& row : e.rows) r.columns[static_cast<std::size_t>(std::bit_width(row.image) - 1)] = row.inputs;
  r.constant = r.image(m.constant);
  return r;
}

Expr expression(const BitLinear& m, std::size_t o, std::span<const Expr> inputs) {
  int first = 0;
  for (std::size_t k = 0; k < o; ++k) first += m.out[k];
  const std::uint64_t mask = ones(m.out[o]);
  // Runs of input bits that go to as many neighboring output bits are one digit.
  struct Part {
    Expr value;
    std::uint64_t bits;
  };
  std::vector<Part> parts;
  std::size_t column = 0;
  for (std::size_t d = 0; d < m.in.size(); ++d) {
    const std::size_t end = column + static_cast<std::size_t>(m.in[d]);
    std::vector<std::uint64_t> left;
    for (; column < end; ++column) left.push_back(m.out[o] ? m.columns[column] >> first & mask : 0);
    for (std::size_t k = 0; k < left.size(); ++k)
      while (left[k]) {
        const int to = std::countr_zero(left[k]);
        std::size_t run = 0;
        std::uint64_t bits = 0;
        while (k + run < left.size() && to + static_cast<int>(run) < m.out[o] &&
               (left[k + run] >> (to + static_cast<int>(run)) & 1)) {
          const std::uint64_t bit = std::uint64_t{1} << (to + static_cast<int>(run));
          left[k + run] ^= bit;
          bits |= bit;
          ++run;
        }
        Expr v = inputs[d];
        if (k) v = ir::div(v, ir::index(std::int64_t{1} << k));
        if (run < left.size() - k) v = ir::mod(v, ir::index(std::int64_t{1} << run));
        parts.push_back({ir::mul(v, ir::index(std::int64_t{1} << to)), bits});
      }
  }
  Expr sum = ir::index(static_cast<std::int64_t>(m.out[o] ? m.constant >> first & mask : 0));
  std::uint64_t taken = m.out[o] ? m.constant >> first & mask : 0;
  for (const Part& p : parts) {
    sum = taken & p.bits ? ir::binary(ir::Op::bit_xor, sum, p.value) : ir::add(sum, p.value);
    taken |= p.bits;
  }
  return sum;
}

}  // namespace ashlar::analysis
