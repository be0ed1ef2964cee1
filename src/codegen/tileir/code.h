// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions. One is its number, the types of its results, and then fields, all of which are numbers: flags, choices,
// operands. Operands are the numbers of values, which count from 0 through the function; what a block defines is forgotten
// behind it.
//
//   code.emit(opcode::addf, type, {0, rounding_nearest, x, y})      the number of the sum
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include <ashlar/ir/tile.h>

#include "codegen/tileir/tables.h"

namespace ashlar::codegen::tileir {

// Those of version 13.1 of the format that are used.
enum class Opcode : std::uint64_t {
  absf = 0,
  addf = 2,
  addi = 3,
  andi = 4,
  assume = 6,
  atomic_rmw_tko = 8,
  bitcast = 9,
  broadcast = 11,
  ceil = 13,
  cmpf = 14,
  cmpi = 15,
  constant = 16,
  continue_ = 17,
  divf = 20,
  divi = 21,
  exp2 = 24,
  exti = 37,
  floor = 39,
  fma = 40,
  for_ = 41,
  ftof = 42,
  ftoi = 43,
  get_global = 44,
  get_tile_block_id = 48,
  iota = 58,
  itof = 59,
  load_ptr_tko = 61,
  load_view_tko = 62,
  make_partition_view = 66,
  make_tensor_view = 67,
  maxf = 69,
  maxi = 70,
  minf = 71,
  mini = 72,
  mmaf = 73,
  mmai = 74,
  mulf = 76,
  muli = 78,
  negf = 79,
  negi = 80,
  offset = 81,
  ori = 82,
  permute = 83,
  reduce = 88,
  remi = 90,
  reshape = 91,
  return_ = 92,
  scan = 94,
  select = 95,
  shli = 96,
  shri = 97,
  sqrt = 100,
  store_ptr_tko = 101,
  store_view_tko = 102,
  subf = 103,
  subi = 104,
  trunci = 107,
  xori = 108,
  yield = 109,
};

enum Rounding : std::uint64_t { nearest_even = 0, to_zero = 1, down = 2, integer_to_zero = 6 };
enum Atomically : std::uint64_t {
  atomic_and,
  atomic_or,
  atomic_xor,
  atomic_add,
  atomic_add_float,
  atomic_max,
  atomic_min,
  atomic_max_unsigned,
  atomic_min_unsigned,
};
enum Predicate : std::uint64_t { equal, not_equal, less, less_equal, greater, greater_equal };

#ifdef ASHLAR_TILEIR_PLANT
// A fault, for the test that looks whether it is found (tests/tileir/planted_test.cpp): what stands in the place of the fields.
std::vector<std::uint64_t> planted(Opcode, std::vector<std::uint64_t> fields);
#endif

class Code {
 public:
  using Number = std::uint64_t;  // of a value
  using Extents = std::vector<std::int64_t>;
  Code(Types& of_types, Table& of_constants) : types(of_types), constants_(of_constants) {}

  Types& types;

  Number emit(Opcode op, std::uint64_t type, std::initializer_list<std::uint64_t> fields) {
    return emit(op, type, std::vector<std::uint64_t>(fields));
  }
  Number emit(Opcode, std::uint64_t type, const std::vector<std::uint64_t>& fields);
  // The same with several results, or none, whose types stand before the fields; `counted`: behind their number.
  Number emit_all(Opcode, const std::vector<std::uint64_t>& types, bool counted, const std::vector<std::uint64_t>& fields);
  // The last thing of an instruction with a block: the block's parameters and what `body` writes. emit_* comes before it, and
  // numbers the results after it.
  Number emit_block(Opcode, const std::vector<std::uint64_t>& types, const std::vector<std::uint64_t>& fields,
                    const std::vector<std::uint64_t>& parameters, const std::function<void(Number first)>& body);

  Number constant(const ir::Value&, const Extents&);
  // The number that all elements of a value are, where it was made by constant().
  std::optional<ir::Value> known(Number) const;
  Number argument() { return next_++; }
  Number spread(Number scalar, std::uint64_t ones_type, std::uint64_t type) {  // of rank 0
    return emit(Opcode::broadcast, type, {emit(Opcode::reshape, ones_type, {scalar})});
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  void begin(Opcode, const std::vector<std::uint64_t>& types, bool counted, const std::vector<std::uint64_t>& fields);
  Table& constants_;
  Bytes bytes_;
  Number next_ = 0;
  std::uint64_t count_ = 0;  // of instructions in the innermost block
  std::map<Number, ir::Value> known_;
};

// An operator of the tile form (ir::tile::has_operator) on values of the type `operand`: the second one's of a select, the
// first one's of any other.
Code::Number apply(Code&, ir::Op, Type operand, Type result, const Code::Extents&, const std::vector<Code::Number>& args);

}  // namespace ashlar::codegen::tileir
