// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One launch as it goes: the values of the block that runs, and what operations need of everything else.
#include <memory>
#include <string>
#include <vector>

#include "tests/tileir/executor/image.h"
#include "tests/tileir/executor/memory.h"

namespace ashlar::tileir {

// Elements of a tile, the last dimension fastest. In the region of a reduction a scalar stands for many lanes, or for all with
// one.
struct Tile {
  const Type* type = nullptr;
  std::vector<u64> bits;
  std::vector<u8> vague;  // by element, whether it is undefined; empty: none is
  const char* why = "";   // what is vague, and since which operation
  const Op* since = nullptr;

  std::size_t size() const { return bits.size(); }
  u64 at(std::size_t n) const { return bits[bits.size() == 1 ? 0 : n]; }
  bool is_vague(std::size_t n) const { return !vague.empty() && vague[bits.size() == 1 ? 0 : n] != 0; }
  void make_vague(std::size_t n, const char* reason, const Op* op) {
    if (vague.empty()) vague.assign(bits.size(), 0), why = reason, since = op;
    vague[n] = 1;
  }
  void inherit(std::size_t n, const Tile& from, std::size_t m) {
    if (from.is_vague(m)) make_vague(n, from.why, from.since);
  }
};

struct View {
  const Type* type = nullptr;
  u64 base = 0;
  std::vector<i64> shape, strides;  // of the tensor, in elements
};

struct Value {
  std::shared_ptr<const Tile> tile;
  std::shared_ptr<const View> view;
  u32 token = 0;  // a node of Races
};

enum class Flow : u8 { kYield, kContinue, kBreak, kReturn };

struct Device::State {
  Memory memory;
  Checks checks;
  Coverage coverage;
  // Globals of modules, allocated when first launched.
  std::map<const Image*, std::pair<std::shared_ptr<const Image>, std::map<std::string, u64>>> globals;
};

struct Run {
  Device::State& device;
  const Image& image;
  const Function& function;
  const std::map<std::string, u64>& globals;
  Grid grid;
  Grid block = {};
  std::vector<Value> values = {};
  Races races = {};
  Report report = {};
  std::vector<u64> counts = {};        // by opcode
  std::vector<u64> block_memory = {};  // by alloca
  const Op* current = nullptr;

  void all(u64 order, std::span<const Argument>);
  Flow execute(const Block&, std::vector<Value>& out);  // out: what the terminator hands on
  void execute(const Op&, bool last, Flow&, std::vector<Value>&);

  [[noreturn]] void fault(FaultKind, const std::string& what, u64 address = 0) const;
  void undefined(const Tile&, const std::string& use) const;  // a fault, unless that is switched off

  const Tile& tile(const Op& op, int operand, std::size_t n = 0) const {
    return *values[op.operands[static_cast<std::size_t>(operand)][n]].tile;
  }
  const Tile* optional(const Op& op, int operand) const { return op.has(operand) ? &tile(op, operand) : nullptr; }
  const View& view(const Op& op, int operand) const { return *values[op.operands[static_cast<std::size_t>(operand)][0]].view; }
  u32 token(const Op& op, int operand) const {
    return operand >= 0 && op.has(operand) ? values[op.operands[static_cast<std::size_t>(operand)][0]].token : 0;
  }
  i64 scalar(const Op& op, int operand, std::size_t n, const char* use) const;  // signed; a fault if it is undefined

  void set(const Op& op, Tile&& t, std::size_t result = 0) {
    values[op.first_result + result].tile = std::make_shared<const Tile>(std::move(t));
  }
  void set_token(const Op& op, u32 node) { values[op.first_result + op.results.size() - 1] = Value{nullptr, nullptr, node}; }
};

inline Tile make(const Type& t, std::size_t n) {
  Tile r;
  r.type = &t;
  r.bits.resize(n);
  return r;
}

// Elementwise: a result of as many lanes as its widest operand has. `f` gets the number of the lane; what is vague goes on.
template <class F>
void lanes(Run& r, const Op& op, std::initializer_list<const Tile*> from, F f) {
  std::size_t n = 1;
  for (const Tile* t : from) n = t->size() > n ? t->size() : n;
  Tile out = make(*op.results[0], n);
  for (const Tile* t : from)
    if (!t->vague.empty())
      for (std::size_t k = 0; k < n; ++k) out.inherit(k, *t, k);
  f(out, n);
  r.set(op, std::move(out));
}

using Execute = void (*)(Run&, const Op&);
Execute execute_of(Code);  // null: the loop of run.cpp does it, or nobody

// By file of operations/.
void integers(Run&, const Op&);
void compare_integers(Run&, const Op&);
void floats(Run&, const Op&);
void compare_floats(Run&, const Op&);
void fma(Run&, const Op&);
void mathematics(Run&, const Op&);
void convert(Run&, const Op&);
void constant(Run&, const Op&);
void iota(Run&, const Op&);
void reshape(Run&, const Op&);
void broadcast(Run&, const Op&);
void permute(Run&, const Op&);
void cat(Run&, const Op&);
void extract(Run&, const Op&);
void insert(Run&, const Op&);
void select(Run&, const Op&);
void pack(Run&, const Op&);
void unpack(Run&, const Op&);
void mma(Run&, const Op&);
void mma_integers(Run&, const Op&);
void mma_scaled(Run&, const Op&);
void make_tensor_view(Run&, const Op&);
void make_view(Run&, const Op&);
void view_shape(Run&, const Op&);
void load_view(Run&, const Op&);
void store_view(Run&, const Op&);
void reduce_view(Run&, const Op&);
void load_pointers(Run&, const Op&);
void store_pointers(Run&, const Op&);
void atomic_rmw(Run&, const Op&);
void atomic_cas(Run&, const Op&);
void offset(Run&, const Op&);
void allocate(Run&, const Op&);
void get_global(Run&, const Op&);
void tokens(Run&, const Op&);
void block_id(Run&, const Op&);
void assume(Run&, const Op&);
void assertion(Run&, const Op&);
void print(Run&, const Op&);
void branch(Run&, const Op&, Flow&, std::vector<Value>&);
void loop(Run&, const Op&, Flow&);
void reduction(Run&, const Op&);

// Memory accesses of one operation, element by element.
class Access {
 public:
  Access(Run&, const Op&, Kind element, bool reads, bool writes);
  void element(u64 address);  // the next ones are of this element
  u64 load(bool& written) const;
  void store(u64 value) const;
  u32 node() const { return node_; }

 private:
  Run& run_;
  const Op& op_;
  Kind kind_;
  bool reads_, writes_;
  std::size_t bytes_;
  u64 order_ = 0;
  bool atomic_ = false, again_ = false;  // again: this operation wrote there before
  Races::Strength strength_ = Races::kWeak;
  u32 node_ = 0;
  Allocation* at_ = nullptr;
  u64 address_ = 0;
};

// What mode an atomic operation does to old and value.
u64 modified(u64 mode, u64 old, u64 value, Kind);

}  // namespace ashlar::tileir
