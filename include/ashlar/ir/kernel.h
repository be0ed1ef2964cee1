// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The lowered form: one flat function of loops, guards, stores and addresses, which a back end translates one to one.
//
// Expressions are the same nodes, with these differences from a Program:
//   load   has one operand, the element address inside the buffer (scalar index, or an index vector: ramp = contiguous when
//          its stride is 1), and optionally a second, a bool (vector) mask: lanes that are false read nothing and give 0.
//   types  may have lanes > 1; ramp and broadcast occur. Math functions (exp, …) and f16/bf16 arithmetic have been
//          expanded; what remains is listed in docs/ir.md, "Lowered form".
//   vars   refer to loops, lets, symbols, scalars, argument strides and the block and thread numbers of a launch by id.
//
// A parallel program is a host body that holds `launch` statements; ir/device.h says what stands inside those.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/ir/device.h>
#include <ashlar/ir/expr.h>
#include <ashlar/ir/program.h>

namespace ashlar::ir {

enum class Storage {
  argument,   // a pointer of the call
  stack,      // constant bytes, in the frame of the function or parallel body that holds the alloc
  registers,  // as stack, and every address is a constant: promoted to SSA values. Inside a launch: one copy for each thread
  workspace,  // a slice of the call's workspace at `offset`; inside a parallel loop one slice for each worker slot
  shared,     // inside a launch: bytes of the block's shared memory at the constant `offset`; one copy for each block
  constant,   // data of the object, never written
  barrier,    // inside a launch: `elements` mbarriers, 8 bytes each, in the block's shared memory at `offset`
};

struct KBuffer {
  Id id = 0;
  std::string name;
  Type type;
  Storage storage = Storage::argument;
  Expr elements;            // stack, registers, constant: int_const. workspace: over symbols and strides only
  std::int64_t align = 64;  // bytes; arguments: what entry checked
  bool written = false;     // arguments: an output
  Expr offset;              // workspace: bytes from the start of its region, over symbols; a multiple of align. Two buffers of
                            // one region have the same offset, or share no byte
  bool per_worker = false;  // workspace: lies in the region that exists once for each worker slot
  std::shared_ptr<const std::vector<std::byte>> data;  // constant: its `elements`
  std::vector<Id> inside;  // stack, registers: loops around the alloc; contents are undefined at the start of their iterations
};

struct KStmt {
  enum class Kind { for_, if_, let, store, prefetch, launch, sync, call };
  Kind kind = Kind::store;
  Where where = {};
  std::vector<KStmt> body;       // for_, if_: executed in order. let: the scope of the variable. launch: what each thread runs
  std::vector<KStmt> otherwise;  // if_

  Id var = 0;                             // for_, let
  std::string name;                       // for_, let: for people
  Expr begin, extent;                     // for_: var runs over [begin, begin + extent), not at all if extent <= 0
  LoopKind loop_kind = LoopKind::serial;  // for_: only serial or parallel remain after lowering
  ThreadAxis bound_to = {};               // for_, bound: until the pass that makes launches
  Expr value;                             // let: the value. store: what is stored. if_: the condition (scalar bool)
  Id buffer = 0;                          // store, prefetch
  Expr address;                           // store, prefetch: as a load's
  Expr mask;                              // store: empty, or a bool (vector): lanes that are false write nothing
  // store: empty, or the operator by which `value` is combined with what the element holds, indivisibly: element = op(element,
  // value). In each lane on its own.
  std::optional<Op> atomic;

  // launch, sync, call: shared and never changed, so that copying a body stays cheap; a pass that rewrites one makes another
  std::shared_ptr<const Launch> launch;
  std::shared_ptr<const Sync> sync;
  std::shared_ptr<const Call> call;
};

struct StrideArg {
  Id id = 0;
  Id buffer = 0;
  int dim = 0;
};  // the element stride of a dimension of an argument; a var

struct Kernel {
  std::string name;
  std::vector<Argument> arguments;  // in the order of declaration
  std::map<Id, Symbol> symbols;
  std::map<Id, ScalarArg> scalars;
  std::vector<StrideArg> strides;         // those that are not known to be 1
  std::map<Id, Buffer> argument_buffers;  // shapes, facts, alignment: what entry checks
  std::map<Id, KBuffer> buffers;
  std::map<Id, Intrinsic> intrinsics;  // what the calls call
  std::map<Id, TensorMap> tensor_maps;
  std::vector<KStmt> body;
  std::vector<Expr> assumptions;
  Expr workspace_shared;      // bytes of the region that exists once; over symbols
  Expr workspace_per_worker;  // bytes for each worker slot
  std::int64_t workspace_align = 64;
};

bool has_load(const Expr&);  // does it read a buffer?

// Calls f on every expression slot of a statement itself (not of its body); those of a call are its operands'.
template <class F>
void for_each_expr(KStmt& s, F&& f) {
  for (Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask})
    if (!e->empty()) f(*e);
  if (!s.call) return;
  auto changed = std::make_shared<Call>(*s.call);
  for (Call::Actual& a : changed->actuals) {
    if (!a.address.empty()) f(a.address);
    for (Expr& e : a.positions) f(e);
    for (Expr& e : a.strides) f(e);
    for (Expr& e : a.extents) f(e);
  }
  s.call = std::move(changed);
}
template <class F>
void for_each_expr(const KStmt& s, F&& f) {
  for (const Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask})
    if (!e->empty()) f(*e);
  if (!s.call) return;
  for (const Call::Actual& a : s.call->actuals) {
    if (!a.address.empty()) f(a.address);
    for (const Expr& e : a.positions) f(e);
    for (const Expr& e : a.strides) f(e);
    for (const Expr& e : a.extents) f(e);
  }
}

}  // namespace ashlar::ir
