// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/profile.h"

#include <algorithm>

#include <llvm/IR/Constants.h>

#include <ashlar/ir/function.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

std::string Profile::text(Where where) const {
  const std::string* file = places_.file(where);
  return file ? *file + ":" + std::to_string(where.line()) : std::string();
}

llvm::Constant* Profile::site(Unit& unit, int kind, const std::string& name, Where line, Where loop) const {
  llvm::LLVMContext& c = *unit.context;
  auto* word = llvm::Type::getInt32Ty(c);
  llvm::Constant* fields[] = {unit.text(name),
                              unit.text(unit.kernel.name),
                              unit.text(text(line)),
                              unit.text(text(loop)),
                              llvm::ConstantInt::get(word, static_cast<std::uint64_t>(kind)),
                              llvm::ConstantInt::get(word, 0)};
  llvm::Constant* value = llvm::ConstantStruct::getAnon(c, fields);
  return new llvm::GlobalVariable(*unit.module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                  unit.name + ".site");
}

namespace {

void find_last(const ir::Kernel& k, const ir::KStmt& s, Computed& memory, Computed& registers) {
  if (const auto* store = s.as<ir::KStore>()) {
    const ir::KBuffer& buffer = k.buffers.at(store->buffer);
    (buffer.storage == ir::Storage::registers ? registers : memory) = {buffer.name, s.where};
  }
  if (const auto* call = s.as<ir::KCall>(); call && call->function) memory = {ir::function(call->function).symbol, s.where};
  for (const auto* part : s.bodies())
    for (const ir::KStmt& inside : *part) find_last(k, inside, memory, registers);
}

}  // namespace

Computed computed_last(const ir::Kernel& k, const ir::KStmt& s) {
  Computed memory, registers;
  find_last(k, s, memory, registers);
  return memory.name.empty() ? registers : memory;
}

bool is_inside_site(const ir::Kernel& k, const std::vector<ir::KStmt>& list, const ir::KStmt& s) {
  if (!has_loop(s)) return false;
  const std::string own = computed_last(k, s).name;
  if (own.empty()) return false;
  return std::any_of(list.begin(), list.end(), [&](const ir::KStmt& other) {
    if (&other == &s || !has_loop(other)) return false;
    const std::string name = computed_last(k, other).name;
    return !name.empty() && name != own;
  });
}

// ---- in a function ------------------------------------------------------------------------------------------------------

void Emitter::begin_profile(int kind, const std::string& name, Where line, Where loop_line) {
  if (!unit.profile) return;
  for (llvm::AllocaInst*& counter : bytes_) {
    counter = local(b.getInt64Ty(), llvm::Align(8), "bytes");
    llvm::IRBuilder<>(counter->getParent(), std::next(counter->getIterator())).CreateStore(b.getInt64(0), counter);
  }
  site_of_function_ = unit.profile->site(unit, kind, name, line, loop_line);
  inside_site_ = kind == ASHLAR_ABI1_SITE_WORKER;
  enter(site_of_function_);
}

void Emitter::enter(llvm::Constant* site) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  b.CreateCall(unit.module->getOrInsertFunction("ashlar_abi1_profile_enter", type), {site});
}

void Emitter::leave(llvm::Constant* site, Value* read, Value* written) {
  auto* word = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), word, word}, false);
  const auto counted = [&](std::size_t n, Value* before) -> Value* {
    Value* now = b.CreateLoad(word, bytes_[n]);
    return before ? b.CreateSub(now, before) : now;
  };
  Value *r = counted(0, read), *w = counted(1, written);
  b.CreateCall(unit.module->getOrInsertFunction("ashlar_abi1_profile_leave", type), {site, r, w});
}

void Emitter::give(Value* result) {
  if (site_of_function_) leave(site_of_function_, nullptr, nullptr);
  b.CreateRet(result);
}

void Emitter::count_bytes(Access access, const ir::KBuffer& buffer, Type t) {
  if (!site_of_function_ || buffer.storage == ir::Storage::registers) return;
  const llvm::DataLayout& layout = unit.module->getDataLayout();
  Value* bytes = is_packed(buffer) ? b.getInt64(static_cast<std::uint64_t>(t.lanes * buffer.type.bits + 7) / 8)
                                   : b.CreateTypeSize(b.getInt64Ty(), layout.getTypeStoreSize(math.memory_type(t)));
  llvm::AllocaInst* counter = bytes_[access == Access::write];
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), counter), bytes), counter);
}

std::size_t Emitter::end_of_site(const std::vector<ir::KStmt>& list, std::size_t begin) const {
  if (!site_of_function_) return begin;
  const ir::KStmt& s = list[begin];
  const auto* call = s.as<ir::KCall>();
  const bool root = loops.empty() && !inside_site_, nest = s.is<ir::KFor>() || (call && call->function);
  if (root ? !nest : !is_inside_site(unit.kernel, list, s)) return begin;
  // parts of a loop (first and last rows, a tail) stand one after another
  const std::string name = computed_last(unit.kernel, s).name;
  std::size_t end = begin + 1;
  while (end < list.size() && computed_last(unit.kernel, list[end]).name == name) ++end;
  return end;
}

void Emitter::measured(const ir::KStmt& s, const std::function<void()>& emit_it) {
  const bool root = loops.empty() && !inside_site_;
  const Computed computed = computed_last(unit.kernel, s);
  llvm::Constant* site =
      unit.profile->site(unit, root ? ASHLAR_ABI1_SITE_STAGE : ASHLAR_ABI1_SITE_INSIDE, computed.name, computed.where, s.where);
  const bool before = inside_site_;
  inside_site_ = true;
  Value *read = b.CreateLoad(b.getInt64Ty(), bytes_[0]), *written = b.CreateLoad(b.getInt64Ty(), bytes_[1]);
  enter(site);
  emit_it();
  leave(site, read, written);
  inside_site_ = before;
}

}  // namespace ashlar::codegen
