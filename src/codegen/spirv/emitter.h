// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The body of one launch: expressions, memory accesses, statements.
//
// A Value has any number of lanes; it is a list of pieces of at most 4 lanes, in order. Both arms of a select are evaluated:
// a load that must not happen carries a mask (docs/ir.md, "Lowered form"), and becomes a branch.
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ashlar/codegen/spirv.h>
#include <ashlar/ir/kernel.h>

#include "codegen/addresses.h"
#include "codegen/legalize.h"
#include "codegen/spirv/arithmetic.h"

namespace ashlar::codegen::spirv {

struct Value {
  Type type;
  std::vector<Piece> pieces;
};

// Lanes of the pieces of a vector: 4, 4, …, then what is left.
std::vector<int> piece_lanes(int lanes);

// Where a buffer lies, as the shader sees it.
struct Place {
  const ir::KBuffer* buffer = nullptr;
  enum class Kind { device, array, slots } kind = Kind::device;
  Ref address = 0;   // device: of element 0, as Registers::address
  Ref variable = 0;  // array: an OpVariable
  spv::StorageClass storage = spv::StorageClassFunction;
  int lanes = 1;  // array: of an element of the variable, which holds so many of the buffer
  // slots: registers at constant addresses, a variable for each group of lanes that is always accessed together
  std::map<std::int64_t, std::pair<int, Ref>> slots;  // first element: lanes, variable of a piece
};

bool by_vectors(const Place&);
// How so many lanes of an element that are one in registers or shared memory are held: four bytes are a word.
Type held(Type element, int lanes);
// Of a tile in registers: where its elements lie, row by row, and whether such places are neighbors.
std::vector<std::int64_t> registers_of(const ir::IntrinsicOperand&, const ir::Call::Actual&);
bool are_neighbors(std::span<const std::int64_t>);
bool is_packed(const Place&);

class Emitter {
 public:
  Emitter(const ir::Kernel&, Function&, const Offers&);

  Function& c;
  Module& m;
  Arithmetic math;

  void bind(ir::Id var, Value, std::int64_t multiple_of = 1);
  void place(ir::Id buffer, Place);
  void statements(const std::vector<ir::KStmt>&);
  Ref parameter(Ref block, std::int64_t offset, Type);  // a pointer to one that lies in memory
  bool uses_subgroups = false;
  bool orders_device_memory = false;  // block barriers order accesses to arguments and the workspace, too

 private:
  // ---- expressions (expr.cpp)
  Value expr(const Expr&);  // a root
  Piece scalar(const Expr&);
  Value emit(const Expr&);
  Value emit_node(const Expr&);
  Value on_integers(const Expr&);  // an operator of indices that is left, on the integers that hold them
  using PieceFunction = std::function<Piece(std::span<const Piece>)>;
  Value each(Type result, std::initializer_list<const Value*>, const PieceFunction&);
  Value splat(Piece, int lanes);
  Piece lane(const Value&, int k);
  Value gather(Type, std::span<const Piece> lanes);

  // ---- memory (memory.cpp)
  const Place& place_of(ir::Id) const;
  Value load(const Expr&);
  Value load_at(ir::Id buffer, Type, const Expr& address, const Expr& mask);
  void store(const ir::KStore&);
  void update(const ir::KStore&);  // an atomic store
  void store_at(ir::Id buffer, const Expr& address, const Value&, const Expr& mask);
  Word of_device() const;
  Piece load_piece(const Place&, Type, Piece index, std::int64_t align);
  Piece load_half(const Place&, Type, Piece index);
  void store_piece(const Place&, Piece value, Piece index, std::int64_t align);
  // ---- addresses (address.cpp)
  Piece spot(const Place&, const Expr& index);
  Piece distance(const Expr& index, std::int64_t bytes);
  void add(Piece& sum, Piece, bool negative = false);
  Piece behind(const Place&, Piece spot, std::int64_t elements);
  Piece low_word(const Expr&, std::int64_t divisor = 1);
  int depth_of(const Expr&) const;
  std::map<int, std::vector<std::pair<Expr, bool>>> terms_of(const Expr& index) const;  // and whether they are taken away
  std::function<Piece(int lane)> indices(const Place&, const Expr& address, const std::optional<Ramp>&, int lanes);
  Ref pointer(const Place&, Type, Piece spot);
  Ref behind(Ref address, Ref pointer_type, Piece bytes, bool may_be_before);  // of two words
  Value condition_of(const Expr& mask, int lanes);
  std::optional<Ramp> kept_ramp(const Expr& address, int lanes);  // its expressions outlive the statement's memo
  Value load_slots(const Place&, Type, std::int64_t first);
  void store_slots(const Place&, const Value&, std::int64_t first);
  Piece from_memory(const Place&, Type, Ref);
  Ref to_memory(const Place&, Piece);
  std::int64_t alignment(const Place&, const Expr& address) const;
  std::int64_t known_multiple(const Expr&) const;

  // ---- statements (statements.cpp)
  void statement(const ir::KStmt&);
  void for_loop(const ir::KFor&);
  void let(const ir::KLet&);
  void synchronize(const ir::Sync&);
  void call(const ir::Call&);
  void call_of_user(const ir::Call&, const ir::Intrinsic&);  // user_call.cpp

  const ir::Kernel& k_;
  const Offers& offers_;  // of the device
  std::map<ir::Id, Value> vars_;
  std::map<ir::Id, std::int64_t> multiples_;
  std::map<ir::Id, int> depths_;  // loops around that change a variable; 0: none
  int loops_ = 0;
  std::map<ir::Id, Place> places_;
  std::unordered_map<const ir::Node*, Value> memo_;
  std::vector<Expr> kept_;  // keeps memoized temporaries alive
};

}  // namespace ashlar::codegen::spirv
