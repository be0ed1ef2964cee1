// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/decode.h"

#include <bit>

namespace ashlar::ptx {

const Table& decoders() {
  static const Table table = [] {
    Table t;
    for (const auto add :
         {add_integers, add_bits, add_floats, add_halves, add_conversions, add_comparisons, add_moves, add_memory, add_atomics,
          add_control, add_barriers, add_warps, add_mma, add_matrices, add_copies, add_bulk, add_wgmma, add_wmma, add_video})
      add(t);
    return t;
  }();
  return table;
}

Decode::Decode(Image& image, Instr& instr, std::string_view opcode) : in(instr), image_(image), opcode_(opcode) {
  std::size_t dot = opcode.find('.');
  name = opcode.substr(0, dot);
  while (dot != std::string_view::npos) {
    const std::size_t next = opcode.find('.', dot + 1);
    modifiers_.push_back(opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
}

void Decode::fail(const std::string& what) const { throw Error(std::string(opcode_) + ": " + what, in.line); }

bool Decode::take(std::string_view modifier) {
  for (std::size_t n = 0; n < modifiers_.size(); ++n)
    if (modifiers_[n] == modifier) {
      modifiers_.erase(modifiers_.begin() + static_cast<std::ptrdiff_t>(n));
      return true;
    }
  return false;
}

int Decode::one_of(std::initializer_list<std::string_view> names) {
  int n = 0;
  for (const std::string_view s : names) {
    if (take(s)) return n;
    ++n;
  }
  return -1;
}

int Decode::must(const char* what, std::initializer_list<std::string_view> names) {
  const int n = one_of(names);
  if (n < 0) fail(std::string("has no ") + what + " that is known");
  return n;
}

T Decode::type_or(T other) {
  for (std::size_t n = 0; n < modifiers_.size(); ++n) {
    const T t = type_named(modifiers_[n]);
    if (t == T::none) continue;
    modifiers_.erase(modifiers_.begin() + static_cast<std::ptrdiff_t>(n));
    return t;
  }
  return other;
}

T Decode::type() {
  const T t = type_or(T::none);
  if (t == T::none) fail("has no type");
  return t;
}

T Decode::type_among(std::initializer_list<T> types) {
  const T t = type();
  for (const T known : types)
    if (t == known) return t;
  fail(std::string("is not known for .") + name_of(t));
}

Space Decode::space(Space otherwise) {
  static constexpr struct {
    const char* name;
    Space space;
  } spaces[] = {{"global", Space::kGlobal},      {"shared", Space::kShared},     {"shared::cta", Space::kShared},
                {"local", Space::kLocal},        {"const", Space::kConst},       {"param", Space::kParam},
                {"param::entry", Space::kParam}, {"param::func", Space::kParam}, {"shared::cluster", Space::kSharedCluster}};
  for (const auto& s : spaces)
    if (take(s.name)) return s.space;
  return otherwise;
}

bool Decode::scope() { return one_of({"cta", "cluster", "gpu", "sys", "gl"}) >= 0; }
bool Decode::order() { return one_of({"relaxed", "acquire", "release", "acq_rel", "sc"}) >= 0; }

void Decode::hints() {
  one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  for (const char* level : {"L1::", "L2::"})
    for (const char* what :
         {"evict_first", "evict_last", "evict_normal", "evict_unchanged", "no_allocate", "64B", "128B", "256B"})
      take(std::string(level) + what);
}

bool Decode::rounding() {
  const int n = one_of({"rn", "rz", "rm", "rp"});
  in.mode = static_cast<u8>(n < 0 ? 0 : n);
  return n >= 0;
}

bool Decode::finished() const { return modifiers_.empty(); }
void Decode::finish() {
  if (!modifiers_.empty()) fail("the modifier ." + std::string(modifiers_[0]) + " is not known");
}

void Decode::operands(std::size_t least, std::size_t most) {
  if (in.ops.size() < least || in.ops.size() > most)
    fail("has " + std::to_string(in.ops.size()) + " operands, expected " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : ""));
}

void Decode::literal(Operand& o, T t) {
  PoolEntry& written = image_.pool[o.index];
  if (o.literal == Operand::kInteger) return;
  u64 bits = written.value;
  if (t == T::f32 || t == T::tf32) {
    if (o.literal == Operand::kFloat64) bits = std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (t == T::f64) {
    if (o.literal == Operand::kFloat32)
      bits = std::bit_cast<u64>(static_cast<double>(std::bit_cast<float>(static_cast<u32>(bits))));
  } else if (bits_of(t) != (o.literal == Operand::kFloat32 ? 32 : 64)) {
    fail(std::string("a floating-point constant stands for a value of type .") + name_of(t));
  }
  if (bits == written.value) return;
  o.index = static_cast<u32>(image_.pool.size());
  o.literal = t == T::f64 ? Operand::kFloat64 : Operand::kFloat32;
  PoolEntry entry;
  entry.value = bits;
  image_.pool.push_back(entry);
}

void Decode::check(const Operand& o, T t, bool wide, bool is_result) {
  const int bits = bits_of(t) < 16 ? 16 : bits_of(t);
  switch (o.kind) {
    case Operand::kReg:
      if (t == T::b8 || t == T::u8 || t == T::s8 ? o.bits >= 8 && (wide || o.bits <= 32)
                                                 : o.bits == bits || (wide && o.bits >= bits))
        return;
      fail("a register of " + std::to_string(o.bits) + " bits is used as ." + name_of(t));
    case Operand::kSink:
      if (is_result) return;
      break;
    case Operand::kImm:
    case Operand::kSpecial:
    case Operand::kLocal:
      if (!is_result) return;
      break;
    case Operand::kPred:
      fail("a predicate stands where a value is expected");
    default:
      break;
  }
  fail(is_result ? "an operand is no result" : "an operand is no value");
}

void Decode::value(std::size_t k, T t, bool wide) {
  if (k >= in.ops.size()) fail("has too few operands");
  check(in.ops[k], t, wide, false);
  if (in.ops[k].kind == Operand::kImm) literal(in.ops[k], t);
}
void Decode::result(std::size_t k, T t, bool wide) {
  if (k >= in.ops.size()) fail("has too few operands");
  check(in.ops[k], t, wide, true);
}
void Decode::values(std::size_t from, T t) {
  for (std::size_t k = from; k < in.ops.size(); ++k) value(k, t);
}
void Decode::predicate(std::size_t k) {
  if (k >= in.ops.size() || (in.ops[k].kind != Operand::kPred && in.ops[k].kind != Operand::kImm)) fail("expected a predicate");
}
void Decode::address(std::size_t k) {
  if (k >= in.ops.size() || in.ops[k].kind != Operand::kAddress) fail("expected an address in brackets");
}

void Decode::vector(std::size_t k, int parts, T t, bool wide, bool is_result) {
  if (k >= in.ops.size()) fail("has too few operands");
  Operand& o = in.ops[k];
  if (o.kind != Operand::kVector) {
    Operand one;
    one.kind = Operand::kVector;
    one.parts.push_back(std::move(o));
    in.ops[k] = std::move(one);
  }
  Operand& v = in.ops[k];
  if (static_cast<int>(v.parts.size()) != parts)
    fail("a vector has " + std::to_string(v.parts.size()) + " elements, expected " + std::to_string(parts));
  for (Operand& p : v.parts) {
    check(p, t, wide, is_result);
    if (p.kind == Operand::kImm) literal(p, t);
  }
}

bool Decode::immediate(std::size_t k, u64& value) const {
  if (k >= in.ops.size() || in.ops[k].kind != Operand::kImm) return false;
  const PoolEntry& e = image_.pool[in.ops[k].index];
  if (e.variable >= 0 || e.function >= 0) return false;
  value = e.value;
  return true;
}

u64 Decode::number(std::size_t k, const char* what) {
  u64 value = 0;
  if (!immediate(k, value)) fail(std::string("expected a number as ") + what);
  return value;
}

}  // namespace ashlar::ptx
