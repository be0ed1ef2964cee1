// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: loops, guards, lets; where the storage of a function's own buffers lies.
#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/lines.h"
#include "codegen/uses.h"

namespace ashlar::codegen {

using llvm::Value;

llvm::BasicBlock* Emitter::block(const char* name) { return llvm::BasicBlock::Create(*unit.context, name, function); }

llvm::AllocaInst* Emitter::local(llvm::Type* type, llvm::Align align, const char* name) {
  llvm::BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* a = at.CreateAlloca(type, nullptr, name);
  a->setAlignment(align);
  return a;
}

void Emitter::when(Value* condition, const std::function<void()>& then) {
  llvm::BasicBlock *inside = block("then"), *after = block("after");
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void Emitter::loop(Value* begin, Value* end, bool runs, const std::function<void(Value*)>& body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *inside = block("loop"), *after = block("done");
  if (runs)
    b.CreateBr(inside);
  else
    b.CreateCondBr(b.CreateICmpSLT(begin, end), inside, after);
  b.SetInsertPoint(inside);
  llvm::PHINode* i = b.CreatePHI(begin->getType(), 2, "i");
  i->addIncoming(begin, before);
  body(b.CreateSExt(i, b.getInt64Ty()));
  Value* next = b.CreateNSWAdd(i, llvm::ConstantInt::get(begin->getType(), 1));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), inside, after);
  b.SetInsertPoint(after);
}

// Says that what the last iteration left in register buffers of this one is not wanted, so that no register carries it over:
// every vector that is accessed begins without a value.
void Emitter::begin_iteration(ir::Id loop) {
  for (const auto& [id, buffer] : unit.kernel.buffers) {
    if (buffer.storage != ir::Storage::registers) continue;
    if (std::find(buffer.inside.begin(), buffer.inside.end(), loop) == buffer.inside.end()) continue;
    const auto it = buffers.find(id);
    if (it == buffers.end() || !llvm::isa<llvm::AllocaInst>(it->second)) continue;
    const auto [known, first] = register_accesses_.try_emplace(id);
    if (first) known->second = constant_accesses(unit.kernel.body, id);
    for (const auto& [address, lanes] : known->second) {
      llvm::Type* type = math.memory_type(buffer.type.with_lanes(lanes));
      Value* at =
          b.CreateGEP(math.memory_type(buffer.type.element()), it->second, b.getInt64(static_cast<std::uint64_t>(address)));
      b.CreateAlignedStore(llvm::PoisonValue::get(type), at, llvm::Align(static_cast<std::uint64_t>(buffer.type.bytes())));
    }
  }
}

// A variable that is an expression.
void Emitter::bind_index(ir::Id var, const Expr& e) {
  bind(var, expr(e), known_multiple(e));
  const auto range = range_of(e);
  if (range) ranges[var] = *range;
  if (unit.narrow && !range) lower_halves[var] = address(e);
}

void Emitter::bind_loop(const ir::KFor& loop, Value* i) {
  bind(loop.var, i);
  loops.insert(loop.var);
  if (unit.lines) unit.lines->variable(b, loop.name, i, loop_);
}

void Emitter::for_loop(const ir::KFor& s) {
  std::int64_t extent = -1;
  const bool constant = ir::is_int(s.extent, &extent);
  if (constant && extent <= 0) return;
  if (constant && extent == 1) {
    bind_index(s.var, s.begin);
    begin_iteration(s.var);
    statements(s.body);
  } else {
    const Expr past = ir::add(s.begin, s.extent);
    begin_root(past);
    const auto first = range_of(s.begin), last = range_of(past);
    const bool narrowed = first && last;
    Value* begin = narrowed ? address(s.begin) : expr(s.begin);
    Value* end = b.CreateAdd(begin, narrowed ? address(s.extent) : expr(s.extent));
    loop(begin, end, constant, [&](Value* i) {
      bind_loop(s, i);
      if (narrowed) ranges[s.var] = {first->first, last->second - 1};
      begin_iteration(s.var);
      statements(s.body);
    });
  }
  vars.erase(s.var), ranges.erase(s.var), lower_halves.erase(s.var), loops.erase(s.var);
}

Emitter::At::At(Emitter& e, const ir::KStmt& s) : e_(e), before_(e.b.getCurrentDebugLocation()), loop_(e.loop_) {
  if (!e.unit.lines) return;
  const llvm::DebugLoc here = e.unit.lines->of(s, e.function, loop_);
  if (!here) return;
  e.b.SetCurrentDebugLocation(here);
  if (s.is<ir::KFor>()) e.loop_ = here;
}

Emitter::At::~At() {
  e_.b.SetCurrentDebugLocation(before_);
  e_.loop_ = loop_;
}

void Emitter::branch(const ir::KIf& s) {
  Value* condition = expr(s.condition);
  if (s.otherwise.empty()) {
    when(condition, [&] { statements(s.body); });
    return;
  }
  llvm::BasicBlock *taken = block("taken"), *other = block("other"), *after = block("after");
  b.CreateCondBr(condition, taken, other);
  b.SetInsertPoint(taken);
  statements(s.body);
  b.CreateBr(after);
  b.SetInsertPoint(other);
  statements(s.otherwise);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// The largest value of what a loop counts beside its variable (lower/threads/counters.cpp), if this is it.
std::optional<std::int64_t> Emitter::most_of_counter(const Expr& value) const {
  if (!thread_of || !value.type().is_index()) return {};
  if (ir::is(value, ir::Op::in_range) && ir::is(ir::args_of(value)[0], ir::Op::cast)) {
    const Expr& held = ir::args_of(ir::args_of(value)[0])[0];
    if (!ir::is(held, ir::Op::load) || unit.kernel.buffers.at(held.node()->id).storage != ir::Storage::stack) return {};
  } else if (!moves_with_loops(value)) {
    return {};
  }
  return most_counted(value);
}

// Of an index that loops count: the largest value, if all of it is counted.
std::optional<std::int64_t> Emitter::most_counted(const Expr& index) const {
  analysis::Facts facts;
  for (const auto& [id, most] : counters) facts.bound(id, 0, most);
  const auto low = analysis::constant_min(index, facts), high = analysis::constant_max(index, facts);
  return low && high && *low >= 0 ? high : std::nullopt;
}

// With a loop, and without the thread or what other statements define.
bool Emitter::moves_with_loops(const Expr& index) const {
  bool moves = false, uniform = true;
  ir::walk(index, [&](const Expr& x) {
    if (!ir::is(x, ir::Op::var)) return uniform = uniform && !ir::is(x, ir::Op::load);
    const ir::Id id = x.node()->id;
    const bool loop = loops.contains(id) || counters.contains(id);
    moves = moves || loop;
    uniform = uniform && (loop || unit.kernel.symbols.contains(id));
    return uniform;
  });
  return moves && uniform;
}

void Emitter::let(const ir::KLet& s) {
  if (const auto most = most_of_counter(s.value)) counters[s.var] = *most;
  if (s.value.type().is_index() && s.value.type().lanes == 1)
    bind_index(s.var, s.value);
  else
    bind(s.var, expr(s.value));
  statements(s.body);
  vars.erase(s.var), ranges.erase(s.var), lower_halves.erase(s.var), counters.erase(s.var);
}

void Emitter::statements(const std::vector<ir::KStmt>& list) {
  for (std::size_t k = 0; k < list.size();) {
    const std::size_t past = end_of_site(list, k), first = k;
    const auto emit_them = [&] {
      do {
        const At at(*this, list[k]);
        statement(list[k]);
      } while (++k < past);
    };
    past > first ? measured(list[first], emit_them) : emit_them();
  }
}

void Emitter::statement(const ir::KStmt& s) {
  s.visit(
      [&](const ir::KFor& n) {
        if (n.kind == ir::LoopKind::parallel && context)
          parallel_for(n, s.where);
        else if (n.kind == ir::LoopKind::serial || n.kind == ir::LoopKind::parallel)
          for_loop(n);
        else
          throw InternalError("codegen: loop " + n.name + " of kernel " + unit.name + " was not vectorized or unrolled");
      },
      [&](const ir::KIf& n) { branch(n); }, [&](const ir::KLet& n) { let(n); }, [&](const ir::KStore& n) { store(n); },
      [&](const ir::KPrefetch& n) { prefetch(n); }, [&](const ir::KLaunch& n) { launch(n); },
      [&](const ir::KSync& n) { synchronize(n, s.where); },
      [&](const ir::KCall& n) {
        if (n.function)
          call_of_region(n, s.where);
        else if (!thread_of && unit.kernel.intrinsics.at(n.intrinsic).is_users())
          call_of_user(n);
        else
          call(n, s.where);
      });
}

void Emitter::launch(const ir::KLaunch& s) {
  if (!device_call) throw InternalError("codegen: a launch in code for a CPU");
  unit.is_cuda() ? launch_cuda(s) : launch_vulkan(s);
}

std::int64_t elements_in_frame(const Unit& unit, const ir::KBuffer& buffer, std::int64_t elements) {
  const std::int64_t lanes = std::max(1, unit.target.vector_bits() / 8 / std::max(1, buffer.type.bytes()));
  return (elements + lanes - 1) / lanes * lanes;
}

// A stack or register buffer belongs to the parallel body that uses it, also to copies of one that its alloc stands inside of;
// otherwise to the function around them.
void Emitter::allocate_stack(const std::vector<ir::KStmt>& region) {
  for (const auto& [id, buffer] : unit.kernel.buffers) {
    if (buffer.storage != ir::Storage::stack && buffer.storage != ir::Storage::registers) continue;
    if (buffers.contains(id) || !used_here(region, buffer, context != nullptr)) continue;
    std::int64_t elements = 0;
    if (!ir::is_int(buffer.elements, &elements) || elements < 0)
      throw InternalError("codegen: buffer " + buffer.name + " lies on the stack but its size is not a constant");
    auto* type = llvm::ArrayType::get(math.memory_type(buffer.type.element()),
                                      static_cast<std::uint64_t>(elements_in_frame(unit, buffer, elements)));
    const std::int64_t align = std::max<std::int64_t>(buffer.align, buffer.type.bytes());
    bind_buffer(id, local(type, llvm::Align(static_cast<std::uint64_t>(align & -align)), buffer.name.c_str()));
  }
}

}  // namespace ashlar::codegen
