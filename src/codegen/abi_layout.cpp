// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/abi_layout.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/keywords.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen {

namespace {

bool letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string out;
  for (char c : name) out += letter_or_digit(c) ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "_");
  if (ir::is_keyword(out)) out += '_';
  return out;
}

std::string c_type(Type t) {
  if (t.is_float() && t.bits == 32) return "float";
  if (t.is_float() && t.bits == 64) return "double";
  if (t.is_index()) return "int64_t";
  if (t.is_packed()) return "uint8_t";  // of two elements
  const std::string width = std::to_string(t.bytes() * 8) + "_t";
  return (t.is_signed() ? "int" : "uint") + width;
}

TensorType tensor_type(Type t) {
  const ir::TensorCode c = ir::tensor_code(t);
  return {c.code, c.bits};
}

std::string ArgField::declaration() const {
  if (kind == Kind::pointer) return std::string(written ? "" : "const ") + c_type(type) + " *" + name;
  return c_type(type) + " " + name;
}

const ArgField& AbiLayout::field(ArgField::Kind kind, ir::Id id) const {
  for (const ArgField& f : fields)
    if (f.kind == kind && f.id == id) return f;
  throw InternalError("the arguments of a kernel have no field for one of its variables");
}

AbiLayout abi_layout(const ir::Kernel& k, int pointer_bytes) {
  AbiLayout layout;
  std::set<std::string> taken;
  auto unique = [&](const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; !taken.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  };
  std::vector<ir::Id> tensors;
  std::vector<std::string> tensor_names;
  for (const ir::Argument& a : k.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) continue;
    const ir::Buffer& buffer = k.argument_buffers.at(a.id);
    ArgField f;
    f.kind = ArgField::Kind::pointer;
    f.id = f.buffer = a.id;
    f.name = unique(c_identifier(buffer.name));
    f.type = buffer.type;
    f.written = a.kind == ir::ArgumentKind::output;
    f.bytes = pointer_bytes;
    tensors.push_back(a.id);
    tensor_names.push_back(f.name);
    layout.fields.push_back(std::move(f));
  }
  std::vector<ir::Id> symbols;
  auto add_symbol = [&](ir::Id id) {
    if (!k.symbols.contains(id) || std::find(symbols.begin(), symbols.end(), id) != symbols.end()) return;
    symbols.push_back(id);
    ArgField f;
    f.kind = ArgField::Kind::symbol;
    f.id = id;
    f.name = unique(c_identifier(k.symbols.at(id).name));
    f.type = i64;
    f.bytes = 8;
    layout.fields.push_back(std::move(f));
  };
  for (ir::Id t : tensors)
    for (const Expr& extent : k.argument_buffers.at(t).extents)
      for (ir::Id id : ir::free_vars(extent)) add_symbol(id);
  for (const auto& [id, symbol] : k.symbols) add_symbol(id);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::vector<ir::StrideArg> strides;
    for (const ir::StrideArg& s : k.strides)
      if (s.buffer == tensors[t]) strides.push_back(s);
    std::sort(strides.begin(), strides.end(), [](const ir::StrideArg& a, const ir::StrideArg& b) { return a.dim < b.dim; });
    for (const ir::StrideArg& s : strides) {
      ArgField f;
      f.kind = ArgField::Kind::stride;
      f.id = s.id;
      f.buffer = s.buffer;
      f.dim = s.dim;
      f.name = unique(tensor_names[t] + "_stride" + std::to_string(s.dim));
      f.type = i64;
      f.bytes = 8;
      layout.fields.push_back(std::move(f));
    }
  }
  for (const ir::Argument& a : k.arguments) {
    if (a.kind != ir::ArgumentKind::scalar) continue;
    const ir::ScalarArg& scalar = k.scalars.at(a.id);
    ArgField f;
    f.kind = ArgField::Kind::scalar;
    f.id = a.id;
    f.name = unique(c_identifier(scalar.name));
    f.type = scalar.type;
    f.bytes = scalar.type.bytes();
    layout.fields.push_back(std::move(f));
  }
  for (ArgField& f : layout.fields) {
    f.offset = (layout.bytes + f.bytes - 1) / f.bytes * f.bytes;
    layout.bytes = f.offset + f.bytes;
    layout.align = std::max(layout.align, f.bytes);
  }
  layout.bytes = (layout.bytes + layout.align - 1) / layout.align * layout.align;
  return layout;
}

}  // namespace ashlar::codegen
