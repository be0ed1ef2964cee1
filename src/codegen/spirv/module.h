// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A SPIR-V module while it is written: types, constants and decorations exist once, sections are put in order at the end.
//
//   Module m;
//   Ref f = m.type(f32), four = m.vector(f, 4), one = m.constant(f32, 1.0);
//   m.capability(spv::CapabilityInt64);
//   std::vector<Word> words = m.assemble();
//
// A Ref is the result id of an instruction. Integer types have no sign (signedness 0): instructions choose it.
// Invariant: the words are a function of the calls alone, in their order.
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/expr.h>
#include <spirv/unified1/spirv.hpp>

#include "codegen/places.h"

namespace ashlar::codegen::spirv {

using Word = std::uint32_t;
using Ref = Word;

// How a value of the IR's type lies in a register: index as i64 or i32, narrow floats as their bits, i4 and u4
// as bytes, extended.
struct Registers {
  bool index32 = false;  // then addresses in the device's memory are pairs of words, too
  bool float16 = false;  // f16 as what it is
  Type address() const { return index32 ? u32.with_lanes(2) : u64; }
  Type physical(Type t) const {
    if (t.is_index()) return (index32 ? i32 : i64).with_lanes(t.lanes);
    if (float16 && t.element() == f16) return t;
    if (t.is_float() && t.bits < 32) return (t.bits == 16 ? u16 : u8).with_lanes(t.lanes);
    if (t.is_packed()) return (t.is_signed() ? i8 : u8).with_lanes(t.lanes);
    return t;
  }
};

class Module {
 public:
  explicit Module(Registers r) : registers(r) {}

  const Registers registers;
  // Vulkan's memory model instead of GLSL's: what threads exchange in memory is told at each access and barrier.
  bool vulkan_memory = false;
  Word device_scope() const { return vulkan_memory ? spv::ScopeQueueFamily : spv::ScopeDevice; }

  Ref fresh() { return next_++; }
  void capability(spv::Capability c) { capabilities_.insert(static_cast<Word>(c)); }
  void extension(const char* name) { extensions_.insert(name); }
  Ref glsl();  // the instruction set GLSL.std.450
  bool uses_float(int bits) const { return bits == 64 ? float64_ : bits == 16 ? float16_ : float32_; }

  // ---- lines of the user's sources, where tables of them are asked for
  struct Line {
    Ref file = 0;  // an OpString; 0: none
    Word line = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  const Places* places = nullptr;  // null: no tables
  Line line(Where);                // of file 0 if the place is not the user's

  // ---- types; each asks for the capabilities it needs
  Ref type(Type);         // of a value in a register, at most 4 lanes
  Ref memory_type(Type);  // of the same in memory outside the shader: bool is a byte
  Ref void_type();
  Ref vector(Ref lane, int lanes);
  Ref array(Ref element, std::int64_t count);
  Ref structure(std::span<const Ref> members, std::span<const Word> offsets);  // a block, decorated
  Ref sum_and_carry();                                                         // of words: what OpIAddCarry returns
  Ref pointer(spv::StorageClass, Ref pointee);
  Ref function_type(Ref result);

  // ---- constants, splatted over the lanes of the type
  Ref integer(Type, std::int64_t);  // any type that is an integer or bool in a register
  Ref real(Type, double);           // f32, f64; f16 where a register holds it as such
  Ref lanes(Type, std::span<const std::int64_t>);
  Ref undefined(Ref type);
  Ref zero(Type);

  Ref composite(Ref type, std::span<const Ref> members);
  Ref global(spv::StorageClass, Ref pointee, Ref initial = 0);  // an OpVariable outside functions
  Ref built_in(spv::BuiltIn, Type);                             // an input; one variable each
  void decorate(Ref, spv::Decoration, std::initializer_list<Word> = {});
  void name(Ref, std::string_view);
  void entry(Ref function, std::string_view name, std::span<const Ref> interface);
  void mode(Ref function, spv::ExecutionMode, std::initializer_list<Word> = {});

  std::vector<Word> functions;  // whole functions, in order
  std::vector<Word> assemble() const;

  static void put(std::vector<Word>&, spv::Op, std::span<const Word>);
  static void put(std::vector<Word>& out, spv::Op op, std::initializer_list<Word> w) { put(out, op, {w.begin(), w.size()}); }
  static void put_text(std::vector<Word>& operands, std::string_view);

 private:
  Ref once(spv::Op, Ref type, std::vector<Word> operands);  // a type (type 0) or a constant

  Ref next_ = 1, glsl_ = 0, sum_and_carry_ = 0;
  bool float16_ = false, float32_ = false, float64_ = false;
  std::set<Word> capabilities_;
  std::set<std::string> extensions_;
  std::map<std::vector<Word>, Ref> known_;
  std::map<Word, Ref> built_ins_;
  std::map<std::string, Ref, std::less<>> files_;
  std::set<std::vector<Word>> decorated_;
  std::vector<Word> entries_, modes_, strings_, names_, decorations_, globals_;
};

}  // namespace ashlar::codegen::spirv
