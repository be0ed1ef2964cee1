// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The algebra of layouts: a logical index is split into digits, and the digits are combined into an address, or into (thread in
// group, register) for fragments.
//
//   x[d]       = outer digits of x[d] (any radix, any number) and its low bits
//   output o   = offset + sum of stride * digit + core(low bits of all indices)
//
// Outer digits have strides; strides and the extent of the last digit may be symbolic. The core is linear over the bits
// (GF(2)): each bit of the output is a sum modulo 2 of bits of the indices. An index without digits and without columns in the
// core is replicated: all its values have the same address. Rows, padding, NCHWc, packed panels, the 128-byte swizzle and
// register fragments are all values of this form, and questions about a layout are functions of the value.
//
//   (r, c) -> 64 r + (c ^ (r % 8 * 8)),  r any, c < 64
//   digits   512 * (r / 8)
//   core     r bit k -> 64 << k ^ 8 << k (k < 3),  c bit k -> 1 << k
//
// Sources: the linear maps over bits are those of Linear Layouts (arXiv 2505.23819), the strided digits those of CuTe's
// layouts.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ashlar/analysis/cascade.h>

namespace ashlar::analysis {

// ---- the core ----------------------------------------------------------------------------------------------------------
// A map over GF(2), with a constant. Inputs and outputs are packed into words: the first in the lowest bits.
struct BitLinear {
  std::vector<int> in, out;            // the bits of each input and of each output; at most 64 in total for either
  std::vector<std::uint64_t> columns;  // the image of each input bit, without the constant
  std::uint64_t constant = 0;

  int in_bits() const;
  int out_bits() const;
  std::uint64_t image(std::uint64_t packed) const;
  std::uint64_t pack(std::span<const std::int64_t> values) const;  // of the inputs; bits beyond their widths are dropped
  std::vector<std::int64_t> unpack(std::uint64_t packed) const;    // of the outputs
  std::vector<std::int64_t> operator()(std::span<const std::int64_t>) const;  // pack, image, unpack
};

int rank(const BitLinear&);
std::vector<std::uint64_t> kernel(const BitLinear&);  // a basis of the inputs that are mapped to 0, ignoring the constant
// A packed input with this image, the one with the smallest kernel part; empty if there is none.
std::optional<std::uint64_t> preimage(const BitLinear&, std::uint64_t packed_output);
// For an injective map: the map from its outputs to its inputs, correct for outputs that are images. Empty if it is not
// injective.
std::optional<BitLinear> inverse(const BitLinear&);
// Output `o` as index arithmetic over the inputs: digits, sums and xor.
Expr expression(const BitLinear&, std::size_t o, std::span<const Expr> inputs);

// ---- digits ------------------------------------------------------------------------------------------------------------
// stride * (x[dim] / divisor % modulus) is added to an output. Modulus 0: all higher digits.
struct Digit {
  std::size_t dim = 0, output = 0;
  std::int64_t divisor = 1, modulus = 0;
  Expr stride;
};

struct IndexMap {
  std::vector<ir::Id> vars;
  std::vector<Digit> digits;
  BitLinear core;            // of x[d] % 2^core.in[d]
  std::vector<Expr> offset;  // one an output
  std::size_t outputs() const { return offset.size(); }
  bool bit_linear() const;  // whether the core is the whole map: no digits, and offsets of 0
  // The outputs at one index; empty if a stride or an offset has no value under `symbols`.
  std::optional<std::vector<std::int64_t>> at(std::span<const std::int64_t> index, const Assignment& symbols = {}) const;
};

// The digits of index expressions over `vars`, which are at least 0 and within the ranges of the facts; other variables are
// symbols. Empty, with the term that is neither a digit nor bit-linear, if the expressions do not have this form.
struct IndexMapRead {
  std::optional<IndexMap> map;
  std::string why;
};
IndexMapRead index_map(std::span<const ir::Id> vars, std::span<const Expr> outputs, const Facts&);

// ---- BIJECT ------------------------------------------------------------------------------------------------------------
struct IndexBox {
  std::vector<Expr> lo, extent;
};

// Whether the form of a map's coordinates shows that they determine every index: v itself, or v / n together with v % n. Such a
// map is injective on any box.
bool injective_by_structure(std::span<const ir::Id> vars, std::span<const Expr> map);

// Whether a map sends different elements of a box to different places. Decided by the digits and the rank of the core, for
// small constant boxes by enumeration, and otherwise by `injective` in cascade.h. A refutation gives two elements and their
// common place.
Verdict injective_on(std::span<const ir::Id> vars, std::span<const Expr> map, const IndexBox&, const Facts&);

}  // namespace ashlar::analysis
