// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops: the body becomes int body(void *closure, int32_t slot), which takes the number of a chunk of iterations from
// a counter until none is left; ctx->parallel_for runs as many of them as there are slots to work in, or as there are chunks.
//
// The closure lies on the stack of the caller, who waits: the counter on a cache line of its own, then begin, extent, chunk
// and the values that the body uses from outside. Slices of the workspace that exist once for each slot are found by slot.
#include <algorithm>

#include <ashlar/ir/function.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/context_fields.h"
#include "codegen/llvm/profile.h"
#include "codegen/uses.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

constexpr std::size_t kCounter = 0, kBegin = 64, kExtent = 72, kChunk = 80, kWorkerBytes = 88, kCaptured = 96;
constexpr std::uint64_t kChunksEach = 8;  // a slot's fair share is handed out in this many pieces

struct Captured {
  ir::Id id = 0;
  bool is_buffer = false;
  Value* value = nullptr;
  std::size_t offset = 0;
};

std::vector<Captured> captures(const Emitter& e, const ir::KFor& loop, std::size_t& end) {
  const Uses uses = uses_of(loop.body);
  std::vector<Captured> all;
  const llvm::DataLayout& layout = e.unit.module->getDataLayout();
  auto add = [&](ir::Id id, bool is_buffer, Value* value) {
    const std::uint64_t align = layout.getABITypeAlign(value->getType()).value();
    end = (end + align - 1) / align * align;
    all.push_back({id, is_buffer, value, end});
    end += layout.getTypeStoreSize(value->getType()).getFixedValue();
  };
  for (const auto& [id, value] : e.vars)
    if (uses.vars.contains(id)) add(id, false, value);
  for (const auto& [id, base] : e.buffers)
    if (uses.buffers.contains(id)) add(id, true, base);
  return all;
}

// Symbols of the functions that compute stages inside, whose failures a worker returns.
std::vector<std::string> functions_called(const std::vector<ir::KStmt>& list) {
  std::vector<std::string> all;
  for (const ir::KStmt& s : list) {
    if (const auto* call = s.as<ir::KCall>(); call && call->function) all.push_back(ir::function(call->function).symbol);
    for (const auto* inside : s.bodies())
      for (const std::string& symbol : functions_called(*inside))
        if (std::find(all.begin(), all.end(), symbol) == all.end()) all.push_back(symbol);
  }
  return all;
}

Computed computed_of(const ir::KFor& loop, const Unit& unit) {
  if (!unit.profile || loop.body.empty()) return {};
  for (auto s = loop.body.rbegin(); s != loop.body.rend(); ++s)
    if (Computed c = computed_last(unit.kernel, *s); !c.name.empty()) return c;
  return {};
}

llvm::Function* emit_worker(Emitter& outer, const ir::KFor& loop, Where where, const std::vector<Captured>& captured) {
  Unit& unit = outer.unit;
  auto* i32_type = outer.b.getInt32Ty();
  auto* type = llvm::FunctionType::get(i32_type, {outer.b.getPtrTy(), i32_type}, false);
  llvm::Function* f = unit.function(".worker", type, Unit::Visibility::internal);
  Emitter e(unit, f, where);
  Value *closure = f->getArg(0), *slot = f->getArg(1);
  const Computed computed = computed_of(loop, unit);
  e.begin_profile(ASHLAR_ABI1_SITE_WORKER, computed.name, computed.where, where);
  auto* word = e.b.getInt64Ty();
  Value* begin = load_field(e.b, word, closure, kBegin);
  Value* extent = load_field(e.b, word, closure, kExtent);
  Value* chunk = load_field(e.b, word, closure, kChunk);
  Value* slice = e.b.CreateMul(e.b.CreateSExt(slot, word), load_field(e.b, word, closure, kWorkerBytes));
  for (const Captured& c : captured) {
    Value* v = load_field(e.b, c.value->getType(), closure, c.offset);
    if (!c.is_buffer) {
      const auto known = outer.multiples.find(c.id);
      e.bind(c.id, v, known == outer.multiples.end() ? 1 : known->second);
      continue;
    }
    const ir::KBuffer& buffer = unit.kernel.buffers.at(c.id);
    const bool sliced = buffer.storage == ir::Storage::workspace && buffer.per_worker;
    e.bind_buffer(c.id, sliced ? e.b.CreateGEP(e.b.getInt8Ty(), v, slice) : v);
  }
  e.ranges = outer.ranges;
  e.allocate_stack(loop.body);
  llvm::BasicBlock *pull = e.block("pull"), *work = e.block("work"), *done = e.block("done");
  e.b.CreateBr(pull);
  e.b.SetInsertPoint(pull);
  // 32 bits count the chunks, of which there are few for each slot, and every machine adds to them in one step
  Value* number =
      e.b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, closure, e.b.getInt32(1), llvm::Align(4), llvm::AtomicOrdering::Monotonic);
  Value* first = e.b.CreateMul(e.b.CreateZExt(number, word), chunk);
  e.b.CreateCondBr(e.b.CreateICmpSLT(first, extent), work, done);
  e.b.SetInsertPoint(work);
  Value* past = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, e.b.CreateAdd(first, chunk), extent);
  e.loop(e.b.CreateAdd(begin, first), e.b.CreateAdd(begin, past), true, [&](Value* i) {
    e.bind_loop(loop, i);
    e.begin_iteration(loop.var);
    e.statements(loop.body);
  });
  e.b.CreateBr(pull);
  e.b.SetInsertPoint(done);
  e.end_streams();
  e.give(e.b.getInt32(0));
  return f;
}

}  // namespace

void Emitter::parallel_for(const ir::KFor& s, Where where) {
  auto* word = b.getInt64Ty();
  Value* begin = expr(s.begin);
  Value* extent = expr(s.extent);
  std::size_t bytes = kCaptured;
  const std::vector<Captured> captured = captures(*this, s, bytes);
  llvm::Function* worker = emit_worker(*this, s, where, captured);
  llvm::AllocaInst* closure = local(llvm::ArrayType::get(b.getInt8Ty(), bytes), llvm::Align(64), "closure");
  when(b.CreateICmpSGT(extent, b.getInt64(0)), [&] {
    Value* wide_slots = b.CreateSExt(slots, word);
    Value* share = b.CreateUDiv(extent, b.CreateMul(wide_slots, b.getInt64(kChunksEach)));
    Value* chunk = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, share, b.getInt64(1));
    Value* chunks = b.CreateUDiv(b.CreateAdd(extent, b.CreateSub(chunk, b.getInt64(1))), chunk);
    Value* alone = b.CreateICmpEQ(slots, b.getInt32(1));
    store_field(b, b.getInt32(0), closure, kCounter);
    store_field(b, begin, closure, kBegin);
    store_field(b, extent, closure, kExtent);
    store_field(b, b.CreateSelect(alone, extent, chunk), closure, kChunk);
    store_field(b, worker_bytes ? worker_bytes : b.getInt64(0), closure, kWorkerBytes);
    for (const Captured& c : captured) store_field(b, c.value, closure, c.offset);
    Value* count = b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wide_slots, chunks), b.getInt32Ty());
    llvm::BasicBlock *here = block("here"), *shared = block("shared"), *failed = block("failed"), *after = block("after");
    b.CreateCondBr(b.CreateICmpEQ(count, b.getInt32(1)), here, shared);
    b.SetInsertPoint(here);
    Value* own = b.CreateCall(worker, {closure, b.getInt32(0)});
    b.CreateCondBr(b.CreateICmpEQ(own, b.getInt32(0)), after, failed);
    llvm::BasicBlock* from_here = b.GetInsertBlock();
    b.SetInsertPoint(shared);
    Value* hook = load_field(b, b.getPtrTy(), context, unit.offset(ContextField::parallel_for));
    Value* user = load_field(b, b.getPtrTy(), context, unit.offset(ContextField::user));
    auto* hook_type =
        llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()}, false);
    Value* rc = b.CreateCall(hook_type, hook, {user, count, worker, closure});
    b.CreateCondBr(b.CreateICmpEQ(rc, b.getInt32(0)), after, failed);
    llvm::BasicBlock* from_shared = b.GetInsertBlock();
    b.SetInsertPoint(failed);
    llvm::PHINode* why = b.CreatePHI(b.getInt32Ty(), 2);
    why->addIncoming(own, from_here);
    why->addIncoming(rc, from_shared);
    const std::vector<std::string> functions = functions_called(s.body);
    std::string who;
    for (const std::string& symbol : functions) who += symbol + " or ";
    Value* what = unit.text(unit.kernel.name + ": " + who + "parallel_for returned {found}, expected {expected}");
    give(b.CreateCall(fail_function(unit),
                      {context, b.getInt32(static_cast<std::uint32_t>(ASHLAR_E_LAUNCH)), b.getInt32(UINT32_MAX),
                       b.getInt32(UINT32_MAX), b.getInt64(0), b.CreateSExt(why, word), what}));
    b.SetInsertPoint(after);
  });
}

}  // namespace ashlar::codegen
