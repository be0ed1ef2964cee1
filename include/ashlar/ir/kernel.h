// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The lowered form: one flat function of loops, guards, stores and addresses, which a back end translates one to one.
//
// A statement is a node, with one struct for each kind, and the line that it comes from:
//
//   KFor       for v in [begin, begin + extent)       KPrefetch   asks for a cache line
//   KIf        if condition ... else ...              KLaunch     a body that every thread of a grid runs
//   KLet       v = value, and the scope of v          KSync       one synchronization operation of a launch
//   KStore     buffer[address] = value where mask     KCall       an instruction, or a function in C
//
// Expressions are those of a Program, with these differences:
//   load   has one operand, the element address in the buffer: a scalar index or a vector of them (a ramp of stride 1 is
//          contiguous). A second operand is a mask: a lane where it is false reads nothing and gives 0.
//   types  may have several lanes; ramp and broadcast occur. Math functions (exp, ...) and arithmetic of f16 and bf16 have
//          been expanded. docs/ir.md, "Lowered form", lists what remains.
//   vars   name loops, lets, symbols, scalars, strides of arguments, and the block and thread numbers of a launch, by id.
//
// A parallel program is a host body that contains launches; ir/device.h describes their contents.
//
//   for (KStmt& s : kernel.body) {
//     if (const auto* loop = s.as<KFor>()) use(loop->var, loop->extent);       // one kind
//     for (auto* list : s.bodies()) walk(*list);                               // what stands inside, of any kind
//     for_each_expr(s, [](Expr& e) { e = changed(e); });                       // its operands, of any kind
//     s.visit([](const KFor& loop) { ... }, [](const KIf& branch) { ... }, ...);   // all kinds: one that is left out does not
//     compile
//   }
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ashlar/ir/device.h>
#include <ashlar/ir/expr.h>
#include <ashlar/ir/lowering.h>
#include <ashlar/ir/program.h>

namespace ashlar::ir {

namespace tile {
struct Kernel;
}  // namespace tile

enum class Storage {
  argument,   // a pointer that the caller gives
  stack,      // constant bytes, in the frame of the function or parallel body that holds the alloc
  registers,  // as stack, with constant addresses only, so that it becomes values. Inside a launch: one copy for each thread
  workspace,  // a slice of the call's workspace at `offset`; inside a parallel loop one slice for each worker slot
  shared,     // inside a launch: bytes of the block's shared memory at the constant `offset`; one copy for each block
  constant,   // data of the object, never written
  barrier,    // inside a launch: `elements` mbarriers of 8 bytes each, in the block's shared memory at `offset`
};

struct KBuffer {
  Id id = 0;
  std::string name;
  Type type;
  Storage storage = Storage::argument;
  Expr elements;            // stack, registers, constant: int_const. workspace: over symbols and strides only
  std::int64_t align = 64;  // bytes; arguments: what entry checked
  bool written = false;     // arguments: an output
  Expr offset;              // workspace: bytes from the start of its region, over symbols, a multiple of align. Two buffers of
                            // one region have the same offset, or share no byte
  bool per_worker = false;  // workspace: it lies in the region that exists once for each worker slot
  std::shared_ptr<const std::vector<std::byte>> data;  // constant: its `elements`
  std::vector<Id> inside;       // stack, registers: loops around the alloc. An iteration starts with undefined contents
  Boxed<BufferFacts> lowering;  // none in a finished kernel

  const BufferFacts& facts() const;  // what lowering knows, or that it knows nothing
};

// ---- statements ------------------------------------------------------------------------------------------------------------
struct KStmt;
using KBody = std::vector<KStmt>;  // in the order of execution

struct KFor {  // var runs over [begin, begin + extent); not at all if extent <= 0
  Id var = 0;
  std::string name;  // for people
  Expr begin, extent;
  LoopKind kind = LoopKind::serial;  // a finished kernel has serial and parallel loops
  KBody body;
  ThreadAxis bound_to = {};  // bound: to what, until launches are made
  Boxed<Ring> ring = {};     // pipelined; none in a finished kernel
};

struct KIf {
  Expr condition;  // one bool
  KBody body, otherwise;
};

struct KLet {
  Id var = 0;
  std::string name;  // for people
  Expr value;
  KBody body;  // the scope of the variable
};

struct KStore {
  Id buffer = 0;
  Expr address;  // as a load's
  Expr value;
  Expr mask = {};  // empty, or a bool for each lane: lanes where it is false write nothing
  // Empty, or an operator for an atomic update: element = op(element, value). Each lane is atomic on its own.
  std::optional<Op> atomic = {};
  // Stores of one group write different elements in different threads; 0: no group. None in a finished kernel.
  Id group = 0;
};

struct KPrefetch {
  Id buffer = 0;
  Expr address;
};

struct KLaunch : Launch {
  KBody body;  // what each thread runs
  // For a target with tiles, instead of a body: what each block runs (ir/tile.h), the buffers of its tensors, and
  // the values of its parameters. An index is passed in 32 bits, in which the host checks that it fits.
  std::shared_ptr<const tile::Kernel> tile = {};
  std::vector<Id> tensors = {};
  std::vector<Expr> parameters = {};
};

using KSync = Sync;
using KCall = Call;

// The lists of statements inside a statement: none, one or two.
template <class Body>
struct Bodies {
  std::array<Body*, 2> lists{};
  std::size_t count = 0;
  Body* const* begin() const { return lists.data(); }
  Body* const* end() const { return lists.data() + count; }
};

struct KStmt {
  using Node = std::variant<KFor, KIf, KLet, KStore, KPrefetch, KLaunch, KSync, KCall>;
  Where where = {};
  Node node = KStore{};
  // For statements at the root, until launches are made: the nest that this one came from. Statements of one nest are adjacent.
  Id nest = 0;

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(node);
  }
  template <class T>
  T* as() {  // null: another kind
    return std::get_if<T>(&node);
  }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
  template <class T>
  T& get() {  // an InternalError where it is of another kind
    if (T* n = as<T>()) return *n;
    wrong_kind();
  }
  template <class T>
  const T& get() const {
    if (const T* n = as<T>()) return *n;
    wrong_kind();
  }
  // Calls the function for its kind. There must be one for each kind, all with the same result type.
  template <class... F>
  decltype(auto) visit(F&&... f) {
    return std::visit(Overloaded<std::decay_t<F>...>{std::forward<F>(f)...}, node);
  }
  template <class... F>
  decltype(auto) visit(F&&... f) const {
    return std::visit(Overloaded<std::decay_t<F>...>{std::forward<F>(f)...}, node);
  }

  Bodies<KBody> bodies();
  Bodies<const KBody> bodies() const;

 private:
  [[noreturn]] static void wrong_kind();
};

// The statement as a loop of this kind; null if it is not one.
const KFor* as_loop(const KStmt&, LoopKind);
KFor* as_loop(KStmt&, LoopKind);

// ---- kernels ---------------------------------------------------------------------------------------------------------------
// A variable that holds the element stride of a dimension of an argument.
struct StrideArg {
  Id id = 0;
  Id buffer = 0;
  int dim = 0;
};

// A variable of the host that holds how many bytes past a multiple of 16 element 0 of an argument lies.
struct AlignmentArg {
  Id id = 0;
  Id buffer = 0;
};

struct Kernel {
  std::string name;
  std::vector<Argument> arguments;  // in the order of declaration
  std::map<Id, Symbol> symbols;
  std::map<Id, ScalarArg> scalars;
  std::vector<StrideArg> strides;         // those that are not known to be 1
  std::vector<AlignmentArg> alignments;   // those that a choice of the host asks for
  std::map<Id, Buffer> argument_buffers;  // shapes, facts and alignment, which entry checks
  std::map<Id, KBuffer> buffers;
  std::map<Id, Intrinsic> intrinsics;  // those that calls name
  std::map<Id, TensorMap> tensor_maps;
  KBody body;
  std::vector<Expr> assumptions;
  Expr workspace_shared;      // bytes of the region that exists once; over symbols
  Expr workspace_per_worker;  // bytes for each worker slot
  std::int64_t workspace_align = 64;
  Id next_id = 1;  // larger than every id of the kernel but those of intrinsics. It goes on where the program's counter stopped
  Id fresh() { return next_id++; }
};

bool has_load(const Expr&);  // does it read a buffer?

// ---- operands --------------------------------------------------------------------------------------------------------------
// Calls f on every non-empty expression of the statement itself, not on those of the statements inside. For a store, the value
// comes first, then the address and the mask; otherwise they are in the order of the struct.
template <class Stmt, class F>
  requires std::same_as<std::remove_const_t<Stmt>, KStmt>
void for_each_expr(Stmt& s, F&& f) {
  const auto one = [&](auto& e) {
    if (!e.empty()) f(e);
  };
  const auto each = [&](auto&... slots) { (one(slots), ...); };
  const auto list = [&](auto& slots) {
    for (auto& e : slots) one(e);
  };
  const auto operands_of = [&]<class N>(N& n) {
    using T = std::remove_const_t<N>;
    if constexpr (std::same_as<T, KFor>) {
      each(n.begin, n.extent);
    } else if constexpr (std::same_as<T, KIf>) {
      each(n.condition);
    } else if constexpr (std::same_as<T, KLet>) {
      each(n.value);
    } else if constexpr (std::same_as<T, KStore>) {
      each(n.value, n.address, n.mask);
    } else if constexpr (std::same_as<T, KPrefetch>) {
      each(n.address);
    } else if constexpr (std::same_as<T, KLaunch>) {
      list(n.grid), list(n.cluster), list(n.parameters);
    } else if constexpr (std::same_as<T, KSync>) {
      each(n.index, n.count, n.bytes, n.parity, n.rank);
    } else {
      static_assert(std::same_as<T, KCall>, "a node whose operands for_each_expr does not know");
      for (auto& a : n.actuals) one(a.address), list(a.positions), list(a.strides), list(a.extents);
    }
  };
  std::visit(operands_of, s.node);
}

}  // namespace ashlar::ir
