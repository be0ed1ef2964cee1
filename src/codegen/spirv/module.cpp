// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/spirv/module.h"

#include <bit>
#include <cstring>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::spirv {

void Module::put(std::vector<Word>& out, spv::Op op, std::span<const Word> w) {
  out.push_back(static_cast<Word>((w.size() + 1) << 16) | static_cast<Word>(op));
  out.insert(out.end(), w.begin(), w.end());
}

void Module::put_text(std::vector<Word>& operands, std::string_view text) {  // zero-terminated, four bytes a word
  for (std::size_t at = 0; at <= text.size(); at += 4) {
    Word w = 0;
    for (std::size_t k = 0; k < 4 && at + k < text.size(); ++k)
      w |= static_cast<Word>(static_cast<unsigned char>(text[at + k])) << (8 * k);
    operands.push_back(w);
  }
}

Ref Module::once(spv::Op op, Ref type, std::vector<Word> operands) {
  std::vector<Word> key = {static_cast<Word>(op), type};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [it, first] = known_.try_emplace(std::move(key), 0);
  if (!first) return it->second;
  it->second = fresh();
  std::vector<Word> words;
  if (type) words.push_back(type);
  words.push_back(it->second);
  words.insert(words.end(), operands.begin(), operands.end());
  put(globals_, op, words);
  return it->second;
}

Ref Module::glsl() {
  if (!glsl_) glsl_ = fresh();
  return glsl_;
}

// ---- types -----------------------------------------------------------------------------------------------------------
Ref Module::void_type() { return once(spv::OpTypeVoid, 0, {}); }
Ref Module::vector(Ref lane, int n) { return n == 1 ? lane : once(spv::OpTypeVector, 0, {lane, static_cast<Word>(n)}); }
Ref Module::pointer(spv::StorageClass c, Ref to) { return once(spv::OpTypePointer, 0, {static_cast<Word>(c), to}); }
Ref Module::function_type(Ref result) { return once(spv::OpTypeFunction, 0, {result}); }

Ref Module::type(Type given) {
  const Type t = registers.physical(given);
  if (t.scalable || t.lanes > 4 || t.lanes < 1) throw InternalError("spirv: a vector of more than 4 lanes was not split");
  Ref lane = 0;
  if (t.is_bool()) {
    lane = once(spv::OpTypeBool, 0, {});
  } else if (t.is_float()) {
    if (t.bits == 64) capability(spv::CapabilityFloat64);
    if (t.bits == 16) capability(spv::CapabilityFloat16);
    (t.bits == 64 ? float64_ : t.bits == 16 ? float16_ : float32_) = true;
    lane = once(spv::OpTypeFloat, 0, {t.bits});
  } else {
    if (t.bits == 0 || t.bits % 8 != 0)
      throw InternalError("spirv: a value of " + std::to_string(t.bits) + " bits was not unpacked");
    if (t.bits == 8) capability(spv::CapabilityInt8);
    if (t.bits == 16) capability(spv::CapabilityInt16);
    if (t.bits == 64) capability(spv::CapabilityInt64);
    lane = once(spv::OpTypeInt, 0, {t.bits, 0});
  }
  return vector(lane, t.lanes);
}

Ref Module::memory_type(Type given) {
  const Type t = given.is_bool() ? u8.with_lanes(given.lanes) : registers.physical(given);
  if (t.bits == 8) capability(spv::CapabilityStorageBuffer8BitAccess);
  if (t.bits == 16) capability(spv::CapabilityStorageBuffer16BitAccess);
  return type(t);
}

Ref Module::array(Ref element, std::int64_t count) { return once(spv::OpTypeArray, 0, {element, integer(u32, count)}); }

Ref Module::structure(std::span<const Ref> members, std::span<const Word> offsets) {
  const Ref s = once(spv::OpTypeStruct, 0, {members.begin(), members.end()});
  decorate(s, spv::DecorationBlock);
  for (Word k = 0; k < offsets.size(); ++k) {
    const std::vector<Word> words = {s, k, static_cast<Word>(spv::DecorationOffset), offsets[k]};
    std::vector<Word> key = {static_cast<Word>(spv::OpMemberDecorate)};
    key.insert(key.end(), words.begin(), words.end());
    if (decorated_.insert(key).second) put(decorations_, spv::OpMemberDecorate, words);
  }
  return s;
}

// A structure is a type of its own each time; this one is not a block.
Ref Module::sum_and_carry() {
  if (!sum_and_carry_) {
    const Ref word = type(u32);
    sum_and_carry_ = fresh();
    put(globals_, spv::OpTypeStruct, {sum_and_carry_, word, word});
  }
  return sum_and_carry_;
}

// ---- constants -------------------------------------------------------------------------------------------------------
Ref Module::integer(Type given, std::int64_t v) {
  const Type t = registers.physical(given);
  if (t.lanes > 1) {
    const Ref lane = integer(t.element(), v);
    return once(spv::OpConstantComposite, type(t), std::vector<Word>(t.lanes, lane));
  }
  const Ref ty = type(t);
  if (t.is_bool()) return once(v ? spv::OpConstantTrue : spv::OpConstantFalse, ty, {});
  // of a type without sign the unused high bits of a word are zero
  std::uint64_t bits = static_cast<std::uint64_t>(v);
  if (t.bits < 64) bits &= (std::uint64_t{1} << t.bits) - 1;
  std::vector<Word> words = {static_cast<Word>(bits)};
  if (t.bits == 64) words.push_back(static_cast<Word>(bits >> 32));
  return once(spv::OpConstant, ty, std::move(words));
}

Ref Module::real(Type t, double v) {
  if (t.lanes > 1) {
    const Ref lane = real(t.element(), v);
    return once(spv::OpConstantComposite, type(t), std::vector<Word>(t.lanes, lane));
  }
  if (t.bits == 16) return once(spv::OpConstant, type(t), {static_cast<Word>(ir::to_bits(ir::float_value(t, v)))});
  if (t.bits == 32) return once(spv::OpConstant, type(t), {std::bit_cast<Word>(static_cast<float>(v))});
  const auto bits = std::bit_cast<std::uint64_t>(v);
  return once(spv::OpConstant, type(t), {static_cast<Word>(bits), static_cast<Word>(bits >> 32)});
}

Ref Module::lanes(Type t, std::span<const std::int64_t> values) {
  if (t.lanes == 1) return integer(t, values[0]);
  std::vector<Word> parts;
  for (std::int64_t v : values) parts.push_back(integer(t.element(), v));
  return once(spv::OpConstantComposite, type(t), std::move(parts));
}

Ref Module::undefined(Ref ty) { return once(spv::OpUndef, ty, {}); }
Ref Module::zero(Type t) { return registers.physical(t).is_float() ? real(t, 0) : integer(t, 0); }

// ---- variables, names, entries ---------------------------------------------------------------------------------------
Ref Module::composite(Ref type, std::span<const Ref> members) {
  return once(spv::OpConstantComposite, type, {members.begin(), members.end()});
}

Ref Module::global(spv::StorageClass c, Ref pointee, Ref initial) {
  const Ref ty = pointer(c, pointee), v = fresh();
  std::vector<Word> operands{ty, v, static_cast<Word>(c)};
  if (initial) operands.push_back(initial);
  put(globals_, spv::OpVariable, operands);
  return v;
}

Ref Module::built_in(spv::BuiltIn b, Type t) {
  const auto [it, first] = built_ins_.try_emplace(static_cast<Word>(b), 0);
  if (first) {
    it->second = global(spv::StorageClassInput, type(t));
    decorate(it->second, spv::DecorationBuiltIn, {static_cast<Word>(b)});
  }
  return it->second;
}

void Module::decorate(Ref r, spv::Decoration d, std::initializer_list<Word> operands) {
  std::vector<Word> words = {r, static_cast<Word>(d)};
  words.insert(words.end(), operands.begin(), operands.end());
  std::vector<Word> key = {static_cast<Word>(spv::OpDecorate)};
  key.insert(key.end(), words.begin(), words.end());
  if (decorated_.insert(std::move(key)).second) put(decorations_, spv::OpDecorate, words);
}

Module::Line Module::line(Where where) {
  const std::string* name = places ? places->file(where) : nullptr;
  if (!name) return {};
  const auto [it, first] = files_.try_emplace(*name, 0);
  if (first) {
    std::vector<Word> words = {it->second = fresh()};
    put_text(words, *name);
    put(strings_, spv::OpString, words);
  }
  return {it->second, where.line()};
}

void Module::name(Ref r, std::string_view text) {
  std::vector<Word> words = {r};
  put_text(words, text);
  put(names_, spv::OpName, words);
}

void Module::entry(Ref function, std::string_view name, std::span<const Ref> interface) {
  std::vector<Word> words = {static_cast<Word>(spv::ExecutionModelGLCompute), function};
  put_text(words, name);
  words.insert(words.end(), interface.begin(), interface.end());
  put(entries_, spv::OpEntryPoint, words);
}

void Module::mode(Ref function, spv::ExecutionMode m, std::initializer_list<Word> operands) {
  std::vector<Word> words = {function, static_cast<Word>(m)};
  words.insert(words.end(), operands.begin(), operands.end());
  put(modes_, spv::OpExecutionMode, words);
}

std::vector<Word> Module::assemble() const {
  // SPIR-V 1.5: what every Vulkan 1.2 device takes. Generator 0: not registered.
  std::vector<Word> out = {spv::MagicNumber, 0x00010500, 0, next_, 0};
  for (Word c : capabilities_) put(out, spv::OpCapability, {c});
  for (const std::string& name : extensions_) {
    std::vector<Word> words;
    put_text(words, name);
    put(out, spv::OpExtension, words);
  }
  if (glsl_) {
    std::vector<Word> words = {glsl_};
    put_text(words, "GLSL.std.450");
    put(out, spv::OpExtInstImport, words);
  }
  put(out, spv::OpMemoryModel,
      {static_cast<Word>(spv::AddressingModelPhysicalStorageBuffer64),
       static_cast<Word>(vulkan_memory ? spv::MemoryModelVulkan : spv::MemoryModelGLSL450)});
  for (const auto* part : {&entries_, &modes_, &strings_, &names_, &decorations_, &globals_, &functions})
    out.insert(out.end(), part->begin(), part->end());
  return out;
}

}  // namespace ashlar::codegen::spirv
