// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From an opcode and its modifiers to what runs it. Each family of instructions adds its decoders to the table; a decoder takes
// the modifiers that it knows, in any order that it asks for, and what nobody took is an error by name.
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/ptx/executor/image.h"

namespace ashlar::ptx {

class Decode {
 public:
  Decode(Image& image, Instr& instr, std::string_view opcode);

  Instr& in;
  std::string_view name;  // "add"

  bool take(std::string_view modifier);                       // true: it was there
  int one_of(std::initializer_list<std::string_view> names);  // its index; -1: none
  int must(const char* what, std::initializer_list<std::string_view> names);
  T type();  // the next type among the modifiers; an error if there is none
  T type_or(T other);
  T type_among(std::initializer_list<T> types);
  Space space(Space otherwise);  // .global, .shared::cta, ...
  bool scope();                  // .cta .cluster .gpu .sys: no effect here, where memory is sequentially consistent
  bool order();                  // .relaxed .acquire .release .acq_rel .sc: likewise
  void hints();                  // cache operators, eviction priorities, prefetch sizes: of no effect on values

  void operands(std::size_t least, std::size_t most);  // how many
  void results(int count) { in.results = static_cast<u8>(count), in.propagate = true; }
  // Operand k is a register, or an immediate, of this size; wide: a register may be larger, as of ld, st and cvt.
  void value(std::size_t k, T t, bool wide = false);
  void result(std::size_t k, T t, bool wide = false);
  void predicate(std::size_t k);  // a source
  void address(std::size_t k);
  void values(std::size_t from, T t);  // all from there on
  const Operand& op(std::size_t k) const { return in.ops[k]; }
  bool immediate(std::size_t k, u64& value) const;                        // a number written in the text
  u64 number(std::size_t k, const char* what);                            // demanded
  void literal(Operand& o, T t);                                          // an immediate as a value of this type
  void vector(std::size_t k, int parts, T t, bool wide, bool is_result);  // {..}; one register stands for a vector of one
  bool rounding();                                                        // .rn .rz .rm .rp into mode, 0 to 3; false: none (rn)
  bool finished() const;
  void finish();  // all modifiers were taken

  [[noreturn]] void fail(const std::string& what) const;
  Image& image() { return image_; }

 private:
  void check(const Operand& o, T t, bool wide, bool is_result);
  Image& image_;
  std::string_view opcode_;
  std::vector<std::string_view> modifiers_;
};

using Decoder = void (*)(Decode&);
using Table = std::unordered_map<std::string_view, Decoder>;
void add_integers(Table&);
void add_video(Table&);
void add_bits(Table&);
void add_floats(Table&);
void add_halves(Table&);
void add_conversions(Table&);
void add_comparisons(Table&);
void add_moves(Table&);
void add_memory(Table&);
void add_atomics(Table&);
void add_control(Table&);
void add_barriers(Table&);
void add_warps(Table&);
void add_mma(Table&);
void add_matrices(Table&);
void add_copies(Table&);
void add_bulk(Table&);
void add_wgmma(Table&);
void add_wmma(Table&);
const Table& decoders();

}  // namespace ashlar::ptx
