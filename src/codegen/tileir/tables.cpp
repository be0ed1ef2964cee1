// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/tileir/tables.h"

#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>

namespace ashlar::codegen::tileir {

namespace {

enum Tag : std::uint64_t {
  tag_i1 = 0,
  tag_i8 = 1,
  tag_i16 = 2,
  tag_i32 = 3,
  tag_i64 = 4,
  tag_f16 = 5,
  tag_bf16 = 6,
  tag_f32 = 7,
  tag_tf32 = 8,
  tag_f64 = 9,
  tag_e4m3 = 10,
  tag_e5m2 = 11,
  tag_pointer = 12,
  tag_tile = 13,
  tag_tensor_view = 14,
  tag_partition_view = 15,
  tag_function = 16,
  tag_token = 17,
};

constexpr std::int64_t dynamic = INT64_MIN;  // an extent or stride that an operand tells

std::uint64_t tag_of(Type t) {
  if (t.is_bool()) return tag_i1;
  if (t == f16) return tag_f16;
  if (t == bf16) return tag_bf16;
  if (t == f32) return tag_f32;
  if (t == f64) return tag_f64;
  if (t == e4m3) return tag_e4m3;
  if (t == e5m2) return tag_e5m2;
  if (t.is_data_integer())  // the format's integers have no sign: operations have
    switch (t.bits) {
      case 8:
        return tag_i8;
      case 16:
        return tag_i16;
      case 32:
        return tag_i32;
      case 64:
        return tag_i64;
      default:
        break;
    }
  throw InternalError("CUDA Tile IR has no elements of type " + ir::text(t));
}

void list(Bytes& to, const std::vector<std::int64_t>& numbers, int bytes) {
  to.number(numbers.size());
  for (const std::int64_t n : numbers) to.fixed(static_cast<std::uint64_t>(n), bytes);
}

// Of a tensor, or of every step-th element of it: so many elements, so far apart.
std::vector<std::int64_t> numbers_of(const std::vector<ir::tile::Extent>& extents, const ir::tile::View& v, bool apart) {
  std::vector<std::int64_t> numbers;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const ir::tile::View::Every e = v.every.empty() ? ir::tile::View::Every{} : v.every[d];
    const std::int64_t n = extents[d].constant;
    numbers.push_back(extents[d].parameter ? dynamic : apart ? n * e.step : (n + e.step - 1 - e.first) / e.step);
  }
  return numbers;
}

}  // namespace

Bytes Table::section(int bytes_of_offset) const {
  Bytes all;
  all.number(entries_.size());
  all.align(static_cast<std::size_t>(bytes_of_offset));
  std::uint64_t offset = 0;
  for (const std::string& e : entries_) {
    all.fixed(offset, bytes_of_offset);
    offset += e.size();
  }
  for (const std::string& e : entries_) all.append(e);
  return all;
}

std::uint64_t Types::element(Type t) {
  Bytes b;
  b.number(tag_of(t));
  return table_(b.data());
}
std::uint64_t Types::token() {
  Bytes b;
  b.number(tag_token);
  return table_(b.data());
}
std::uint64_t Types::tile_of(std::uint64_t element, const std::vector<std::int64_t>& extents) {
  Bytes b;
  b.number(tag_tile);
  b.number(element);
  list(b, extents, 8);
  return table_(b.data());
}
std::uint64_t Types::tile(Type element_type, const std::vector<std::int64_t>& extents) {
  return tile_of(element(element_type), extents);
}
std::uint64_t Types::tile_of_tf32(const std::vector<std::int64_t>& extents) {
  Bytes b;
  b.number(tag_tf32);
  return tile_of(table_(b.data()), extents);
}
std::uint64_t Types::pointers(Type to, const std::vector<std::int64_t>& extents) {
  Bytes b;
  b.number(tag_pointer);
  b.number(element(to));
  return tile_of(table_(b.data()), extents);
}
std::uint64_t Types::tensor(const ir::tile::Tensor& t, const ir::tile::View& v) {
  Bytes b;
  b.number(tag_tensor_view);
  b.number(element(t.element));
  list(b, numbers_of(v.extents.empty() ? t.extents : v.extents, v, false), 8);
  list(b, numbers_of(t.strides, v, true), 8);
  return table_(b.data());
}
std::uint64_t Types::partition(const ir::tile::Tensor& t, const ir::tile::View& v) {
  Bytes b;
  const bool padded = v.outside == ir::tile::Outside::zero;
  b.number(tag_partition_view);
  if (minor >= 3) b.number(padded);  // what is said of it stands in front
  list(b, v.tile, 4);
  b.number(tensor(t, v));
  std::vector<std::int64_t> dimensions;  // of the tensor, in their order
  for (std::size_t d = 0; d < v.tile.size(); ++d) dimensions.push_back(static_cast<std::int64_t>(d));
  list(b, dimensions, 4);
  if (minor < 3) b.byte(padded);
  if (padded) b.number(0);  // zero
  return table_(b.data());
}
std::uint64_t Types::function(const std::vector<std::uint64_t>& arguments) {
  Bytes b;
  b.number(tag_function);
  b.number(arguments.size());
  for (const std::uint64_t a : arguments) b.number(a);
  b.number(0);
  return table_(b.data());
}

std::string element_bytes(const ir::Value& v) {
  Bytes b;
  b.fixed(v.type.is_bool() ? (v.i ? 0xFF : 0) : ir::to_bits(v), v.type.bytes());
  return b.data();
}

}  // namespace ashlar::codegen::tileir
