// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What values a data expression may have because it is read from a constant: the multipliers and shifts of a quantized layer
// are known when its code is made, so that operators need not provide for operands that do not occur.
#include <algorithm>
#include <cstring>

#include <ashlar/ir/numeric.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using ir::Op;

namespace {

std::int64_t element_of(const ir::KBuffer& buffer, std::size_t at) {
  const auto bytes = static_cast<std::size_t>(buffer.type.bytes());
  std::uint64_t bits = 0;
  std::memcpy(&bits, buffer.data->data() + at * bytes, bytes);  // little endian, as the host is
  const int unused = 64 - buffer.type.bits;
  if (buffer.type.is_unsigned()) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

std::optional<Values> Emitter::values_of(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = e.type().element();
  if (!t.is_integer() || t.is_index() || t.is_packed() || t.bits > 32) return std::nullopt;
  switch (ir::op_of(e)) {
    case Op::int_const:
      return Values{e.node()->i, e.node()->i};
    case Op::broadcast:
      return values_of(args[0]);
    case Op::cast: {
      const auto from = values_of(args[0]);
      const bool kept = from && from->low >= ir::lowest_of(t) && from->high <= ir::highest_of(t);
      return kept ? from : std::nullopt;
    }
    case Op::load:
      break;
    default:
      return std::nullopt;
  }
  const auto it = unit.kernel.buffers.find(e.node()->id);
  if (it == unit.kernel.buffers.end() || it->second.storage != ir::Storage::constant || it->second.type.element() != t)
    return std::nullopt;
  const auto [known, first] = table_values_.try_emplace(it->first);
  if (first) {
    const std::size_t count = it->second.data->size() / static_cast<std::size_t>(t.bytes());
    Values all{INT64_MAX, INT64_MIN};
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t v = element_of(it->second, k);
      all = {std::min(all.low, v), std::max(all.high, v)};
    }
    known->second = all;
  }
  Values v = known->second;
  if (args.size() > 1) v = {std::min<std::int64_t>(v.low, 0), std::max<std::int64_t>(v.high, 0)};  // a mask may leave zeros
  return v;
}

}  // namespace ashlar::codegen
