#pragma once
// Arguments for an operator of generators/, of a fixed seed: floats from -2 to 2, whole numbers from -3 to 3, from 0 where
// unsigned; Scalars are 0.75 or 1.
//
//   interp::Arguments a = op_arguments(program, {{"M", 3}}, 5);      // the symbols that are not named are 5, 6, 7, ...
#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <ashlar/analysis/simplify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>

namespace op_tests {

using namespace ashlar;

using Sizes = std::map<std::string, std::int64_t>;

// What an extent is at the sizes of the symbols.
inline std::int64_t extent_at(const Expr& e, const ir::Substitution& sizes) {
  std::int64_t v = -1;
  if (!ir::is_int(analysis::simplify(ir::substitute(e, sizes)), &v) || v < 0)
    throw std::runtime_error("the extent " + ir::text(e) + " is no size");
  return v;
}

class Numbers {  // a linear congruential generator, Knuth's constants
 public:
  double next(Type t) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto r = static_cast<std::int64_t>(state_ >> 40);
    if (t == bool_) return static_cast<double>(r % 2);
    if (t.is_float()) return static_cast<double>(r % 1024 - 512) / 256;
    return static_cast<double>(t.is_unsigned() ? r % 4 : r % 7 - 3);
  }

 private:
  std::uint64_t state_ = 1;
};

// Dense; of elements of 4 bits the rows start on bytes.
inline interp::Array made(Type t, const std::vector<std::int64_t>& shape, Numbers& numbers) {
  std::vector<std::int64_t> stored = shape;
  if (t.is_packed() && !stored.empty()) stored.back() += stored.back() % 2;
  interp::Array a = interp::Array::make(t, stored, [&](auto) { return numbers.next(t); });
  if (stored == shape) return a;
  a.shape = shape;
  a.strides.assign(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) a.strides[d] = a.strides[d + 1] * stored[d + 1];
  return a;
}

inline interp::Arguments op_arguments(const ir::Program& p, const Sizes& sizes, std::int64_t some) {
  ir::Substitution at;
  for (const auto& [id, s] : p.symbols) {
    const auto given = sizes.find(s.name);
    std::int64_t size = given != sizes.end() ? given->second : std::max(s.min, some++);
    if (given == sizes.end()) size = (size + s.multiple_of - 1) / s.multiple_of * s.multiple_of;
    at.emplace_back(id, ir::index(size));
  }
  Numbers numbers;
  interp::Arguments arguments;
  for (const ir::Argument& a : p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const Type t = p.scalars.at(a.id).type;
      arguments.emplace_back(t.is_float() ? ir::float_value(t, 0.75) : ir::int_value(t, 1));
      continue;
    }
    const ir::Buffer& b = p.buffers.at(a.id);
    std::vector<std::int64_t> shape;
    for (const Expr& e : b.extents) shape.push_back(extent_at(e, at));
    if (a.kind == ir::ArgumentKind::input)
      arguments.emplace_back(made(b.type, shape, numbers));
    else
      arguments.emplace_back(interp::Array::zeros(b.type, shape));
  }
  return arguments;
}

// Elements of 4 bits as tensors have them, two to a byte; the interpreter has one.
inline std::vector<std::byte> packed_bytes(const interp::Array& a) {
  std::vector<std::byte> bytes((a.bytes.size() + 1) / 2);
  for (std::size_t k = 0; k < a.bytes.size(); ++k)
    bytes[k / 2] |= static_cast<std::byte>((static_cast<unsigned>(a.bytes[k]) & 15u) << (k % 2 * 4));
  return bytes;
}

// The bound within which sums may be regrouped.
inline double bound_of(Type t) {
  return !t.is_float() ? 0 : t.bits == 64 ? 1e-12 : t.bits == 32 ? 1e-5 : t == f16 ? 4e-3 : 3e-2;
}

}  // namespace op_tests
