// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Expressions compiled to an array of nodes in topological order, so that shared nodes are evaluated once.
//
// A Tape evaluates lazily where the language promises it: the arm of `select` that is not taken is not evaluated. A strict
// Tape, for kernels, evaluates both arms as machines do, and masked lanes too. Values that were never written, and indices that
// leave 63 bits, may then occur as long as nothing uses them. Vector expressions are evaluated lane by lane; nodes with one
// lane are evaluated once for all lanes.
//
//   Slots slots;  slots.set(i_id, int_value(index_type, 3));
//   Tape t(expr, slots, memory, Select::lazy);
//   Value v = t.run();
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/direct.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/vscale.h>

namespace ashlar::interp {

using ir::Id;
using ir::Value;

// Values of variables by dense slot. A variable of n lanes takes n slots.
class Slots {
 public:
  explicit Slots(int vscale = 1) : vscale_(vscale) { set(ir::vscale_id, ir::int_value(ir::index_type, vscale)); }
  // The first slot of a variable. If it has more lanes than before (in the other arm of an if), it gets new slots.
  int slot(Id id, int lanes = 1);
  int lanes(Type t) const { return t.scalable ? t.lanes * vscale_ : t.lanes; }  // as many as there are
  void set(Id id, const Value& v, int lane = 0) { values_[static_cast<std::size_t>(slot(id) + lane)] = v; }
  void set_slot(int slot, const Value& v) { values_[static_cast<std::size_t>(slot)] = v; }
  void set_index(int slot, std::int64_t i) {
    Value& v = values_[static_cast<std::size_t>(slot)];
    v.type = ir::index_type;
    v.i = i;
  }
  // Exchanges the values of the variables with those of another thread.
  void swap_values(std::vector<Value>& other) { values_.swap(other); }
  const std::vector<Value>& values() const { return values_; }
  const Value& value(int slot) const { return values_[static_cast<std::size_t>(slot)]; }  // type code handle: not bound

 private:
  int vscale_ = 1;
  struct Run {
    int first, lanes;
  };
  std::unordered_map<Id, Run> slots_;  // never iterated over
  std::vector<Value> values_;
};

// The memory that loads read.
class Memory {
 public:
  virtual int resolve(Id buffer, const char* name) = 0;                     // once, when a Tape is made
  virtual Value read(int buffer, const std::int64_t* index, int rank) = 0;  // throws RunError
  virtual std::string where() const = 0;                                    // "stage `C` at i = 3, j = 4", for messages

 protected:
  ~Memory() = default;
};

enum class Select { lazy, strict };

class Tape {
 public:
  Tape() = default;
  Tape(const Expr&, Slots&, Memory&, Select);
  Value run(int lane = 0);  // lanes of one evaluation are asked for in ascending order, from 0
  std::int64_t run_index() { return run().i; }
  void run_unused(int lane = 0);  // the same for a lane whose value goes nowhere, so that it may have none
  int lanes() const { return lanes_; }
  bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    ir::Op op = ir::Op::int_const;
    bool vector = false;  // more than one lane
    bool lazy_select = false;
    bool reads = false;  // there is a load, a promise or a call in it
    Type type;           // of one lane
    Value value;         // the latest result; constants: theirs for ever
    ir::Direct direct = nullptr;
    std::uint32_t in[3] = {};  // the first three operands; all of them are in operands_
    std::uint32_t first = 0, count = 0;
    int slot = -1;                    // var: slot; load: what Memory::resolve gave
    std::uint64_t stamp = 0;          // when it was computed
    std::exception_ptr missing = {};  // strict: why it has no value
    const char* name = nullptr;
    const ir::Function* function = nullptr;  // call
  };
  int add(const Expr&, Slots&, Memory&, std::unordered_map<const ir::Node*, int>&, Select);
  void compute(Node&, int lane);
  bool compute_direct(Node& n) {  // false: not one of the frequent operators, or an index that leaves 63 bits
    return n.direct && n.direct(nodes_[n.in[0]].value, nodes_[n.in[1]].value, nodes_[n.in[2]].value, n.value);
  }
  void compute_strict(Node&, int lane);
  const Node& evaluate(int lane);         // a tape that is not lazy; what is missing does no harm yet
  const Value& need(int node, int lane);  // recursive, for lazy tapes

  std::vector<Node> nodes_;
  std::vector<int> operands_;
  std::vector<std::uint32_t> steps_;  // the nodes that are not constants, in order
  Slots* slots_ = nullptr;
  Memory* memory_ = nullptr;
  bool lazy_ = false;
  bool strict_ = false;
  bool some_without_ = false;  // a node of this evaluation has no value
  int lanes_ = 1;
  std::uint64_t epoch_ = 0, lane_epoch_ = 0;
};

}  // namespace ashlar::interp
