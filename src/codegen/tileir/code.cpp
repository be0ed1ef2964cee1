// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/tileir/code.h"

namespace ashlar::codegen::tileir {

Code::Number Code::emit(Opcode op, std::uint64_t type, const std::vector<std::uint64_t>& fields) {
  return emit_all(op, {type}, false, fields);
}

void Code::begin(Opcode op, const std::vector<std::uint64_t>& result_types, bool counted,
                 const std::vector<std::uint64_t>& as_meant) {
#ifdef ASHLAR_TILEIR_PLANT
  const std::vector<std::uint64_t> fields = planted(op, as_meant);
#else
  const std::vector<std::uint64_t>& fields = as_meant;
#endif
  bytes_.number(static_cast<std::uint64_t>(op));
  ++count_;
  if (counted) bytes_.number(result_types.size());
  for (const std::uint64_t t : result_types) bytes_.number(t);
  for (const std::uint64_t f : fields) bytes_.number(f);
}

Code::Number Code::emit_all(Opcode op, const std::vector<std::uint64_t>& result_types, bool counted,
                            const std::vector<std::uint64_t>& as_meant) {
  begin(op, result_types, counted, as_meant);
  const Number first = next_;
  next_ += result_types.size();
  return first;
}

Code::Number Code::emit_block(Opcode op, const std::vector<std::uint64_t>& result_types,
                              const std::vector<std::uint64_t>& as_meant, const std::vector<std::uint64_t>& parameters,
                              const std::function<void(Number first)>& body) {
  begin(op, result_types, true, as_meant);
  bytes_.number(1);  // one region
  bytes_.number(1);  // of one block
  bytes_.number(parameters.size());
  for (const std::uint64_t t : parameters) bytes_.number(t);
  const Number outside = next_;
  const std::uint64_t around = count_;
  Bytes before;
  std::swap(before, bytes_);
  next_ += parameters.size(), count_ = 0;
  body(outside);
  before.number(count_);
  before.append(bytes_);
  bytes_ = std::move(before);
  next_ = outside, count_ = around;
  known_.erase(known_.lower_bound(outside), known_.end());
  next_ += result_types.size();
  return outside;
}

Code::Number Code::constant(const ir::Value& v, const Extents& extents) {
  Bytes data;
  const std::string element = element_bytes(v);
  data.number(element.size());
  data.append(element);
  const Number n = emit(Opcode::constant, types.tile(v.type, extents), {constants_(data.data())});
  known_[n] = v;
  return n;
}

std::optional<ir::Value> Code::known(Number n) const {
  const auto it = known_.find(n);
  if (it == known_.end()) return std::nullopt;
  return it->second;
}

}  // namespace ashlar::codegen::tileir
