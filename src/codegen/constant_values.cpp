// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>

#include "codegen/legalize.h"

namespace ashlar::codegen {

using ir::Interval;
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

std::optional<Interval> ConstantValues::of(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = e.type().element();
  if (!t.is_integer() || t.is_index() || t.is_packed()) return std::nullopt;
  const auto kept = [&](std::optional<Interval> v) {  // in another type
    return v && v->low >= ir::lowest_of(t) && v->high <= ir::highest_of(t) ? v : std::nullopt;
  };
  switch (ir::op_of(e)) {
    case Op::int_const:
      if (t.is_unsigned() && t.bits == 64 && e.node()->i < 0) return std::nullopt;
      return Interval{e.node()->i, e.node()->i};
    case Op::broadcast:
      return of(args[0]);
    case Op::in_range: {
      const auto low = of(args[1]), end = of(args[2]);
      return low && end ? std::optional(Interval{low->low, end->high - 1}) : std::nullopt;
    }
    case Op::cast:
      return t.bits <= 32 ? kept(of(args[0])) : std::nullopt;
    case Op::bitcast:  // between integers
      return t.bits <= 32 && args[0].type().is_data_integer() ? kept(of(args[0])) : std::nullopt;
    case Op::load:
      return t.bits <= 32 ? of_load(e) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<Interval> ConstantValues::of_load(const Expr& e) {
  const auto it = k_.buffers.find(e.node()->id);
  if (it == k_.buffers.end() || it->second.storage != ir::Storage::constant ||
      !(it->second.type.element() == e.type().element()))
    return std::nullopt;
  const auto [known, first] = tables_.try_emplace(it->first);
  if (first) {
    const std::size_t count = it->second.data->size() / static_cast<std::size_t>(it->second.type.bytes());
    Interval all{INT64_MAX, INT64_MIN};
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t v = element_of(it->second, k);
      all = {std::min(all.low, v), std::max(all.high, v)};
    }
    known->second = all;
  }
  Interval v = known->second;
  if (ir::args_of(e).size() > 1)
    v = {std::min<std::int64_t>(v.low, 0), std::max<std::int64_t>(v.high, 0)};  // a mask leaves zeros
  return v;
}

}  // namespace ashlar::codegen
