// The host's side of a kernel for Vulkan: the shaders and what the runtime must know of their launches as constant data, and in
// the body a call of the runtime for each launch, all recorded in one command buffer.
//
//   int body(args, ctx) {
//     call *c;  uint64_t workspace;
//     if (rc = ashlar_abi1_vulkan_begin(&module, ctx, bytes, align, &c, &workspace)) return rc;
//     ashlar_abi1_vulkan_run(c, 0, (int64_t[3]){grid…}, (uint64_t[]){x, N, …});      … one a launch; failures are kept in c
//     return ashlar_abi1_vulkan_end(c);
//   }
#include <cstddef>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <ashlar/codegen/spirv.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/vulkan.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

std::uint64_t hash_of(const std::vector<std::uint32_t>& words) {  // FNV-1a, a word at a time
  std::uint64_t h = 14695981039346656037u;
  for (std::uint32_t w : words) h = (h ^ w) * 1099511628211u;
  return h;
}

class ModuleData {
 public:
  explicit ModuleData(Unit& u) : unit_(u), c_(*u.context) {}

  Constant* emit() {
    Constant *words[2] = {null(), null()}, *counts[2] = {i64c(0), i64c(0)}, *hashes[2] = {i64c(0), i64c(0)},
             *features[2] = {i32c(0), i32c(0)};
    for (std::size_t v = 0; v < 2; ++v) {
      if (!unit_.shaders[v]) continue;
      const spirv::Code& code = *unit_.shaders[v];
      words[v] = global(llvm::ConstantDataArray::get(c_, llvm::ArrayRef<std::uint32_t>(code.words)), ".spirv");
      counts[v] = i64c(code.words.size());
      hashes[v] = i64c(hash_of(code.words));
      features[v] = i32c(code.features);
    }
    std::vector<Constant*> rows;
    for (const spirv::Entry& e : unit_.shaders[0]->entries) {
      const unsigned flags = (e.parameters_in_memory ? unsigned{ASHLAR_VULKAN_PARAMETERS_IN_MEMORY} : 0u) |
                             (e.uses_subgroups ? unsigned{ASHLAR_VULKAN_USES_SUBGROUPS} : 0u);
      rows.push_back(record({unit_.text(e.name), i32c(e.launch->threads), i32c(e.launch->warp), i32c(e.shared_bytes),
                             i32c(e.parameter_bytes), i32c(flags), i32c(0)}));
    }
    Constant* table = null();
    if (!rows.empty()) {
      check(rows[0], sizeof(ashlar_abi1_vulkan_launch));
      table = global(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows), ".launches");
    }
    auto pair = [&](Constant*(&of)[2]) {
      return llvm::ConstantArray::get(llvm::ArrayType::get(of[0]->getType(), 2), {of[0], of[1]});
    };
    Constant* value = record({i32c(1), i32c(sizeof(ashlar_abi1_vulkan_module)), unit_.text(unit_.kernel.name), pair(words),
                              pair(counts), pair(hashes), pair(features), i32c(rows.size()), i32c(0), table});
    check(value, sizeof(ashlar_abi1_vulkan_module));
    return global(value, ".vulkan");
  }

 private:
  Constant* i64c(std::uint64_t v) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(c_), v); }
  template <class T>
  Constant* i32c(T v) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(c_), static_cast<std::uint32_t>(v));
  }
  Constant* null() { return llvm::ConstantPointerNull::get(llvm::PointerType::get(c_, 0)); }
  Constant* record(std::initializer_list<Constant*> fields) {
    return llvm::ConstantStruct::getAnon(c_, llvm::ArrayRef(fields.begin(), fields.size()));
  }
  Constant* global(Constant* value, const char* suffix) {
    auto* g = new llvm::GlobalVariable(*unit_.module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                       unit_.name + suffix);
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return g;
  }
  void check(Constant* row, std::size_t size) {
    if (unit_.module->getDataLayout().getTypeAllocSize(row->getType()) != size)
      throw InternalError("codegen: the layout of a Vulkan module is not that of vulkan.h");
  }

  Unit& unit_;
  llvm::LLVMContext& c_;
};

llvm::FunctionCallee runtime(Unit& unit, const char* name, std::initializer_list<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(*unit.context),
                                       llvm::ArrayRef(parameters.begin(), parameters.size()), false);
  return unit.module->getOrInsertFunction(name, type);
}

void check_statements(const Unit& unit, const std::vector<ir::KStmt>& list) {
  using Kind = ir::KStmt::Kind;
  for (const ir::KStmt& s : list) {
    if (s.kind == Kind::launch || s.kind == Kind::prefetch) continue;
    auto refused = [&](const std::string& found) {
      refuse("vulkan",
             "only launches, and loops, conditions and lets around them, on the host's side of kernel `" + unit.kernel.name +
                 "`: its tensors lie in the device's memory",
             found, s.where);
    };
    if (s.kind == Kind::store) refused("a store to `" + unit.kernel.buffers.at(s.buffer).name + "` outside a launch");
    for (const Expr* e : {&s.begin, &s.extent, &s.value})
      if (!e->empty())
        ir::walk(*e, [&](const Expr& x) {
          if (ir::is(x, ir::Op::load))
            refused("a read of `" + unit.kernel.buffers.at(x.node()->id).name + "` outside a launch");
          return true;
        });
    check_statements(unit, s.body);
    check_statements(unit, s.otherwise);
  }
}

}  // namespace

void check_host_body(const Unit& unit) { check_statements(unit, unit.kernel.body); }

Value* begin_device_call(Emitter& e, Value* context, const WorkspaceBytes* bytes) {
  auto& b = e.b;
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  llvm::AllocaInst *call = e.local(pointer, llvm::Align(8), "call"), *workspace = e.local(word, llvm::Align(8), "workspace");
  const auto begin = runtime(e.unit, "ashlar_abi1_vulkan_begin", {pointer, pointer, word, word, pointer, pointer});
  Value* align = b.getInt64(static_cast<std::uint64_t>(e.unit.kernel.workspace_align));
  Value* rc = b.CreateCall(begin, {ModuleData(e.unit).emit(), context, bytes ? bytes->total : b.getInt64(0),
                                   bytes ? align : b.getInt64(0), call, workspace});
  llvm::BasicBlock *failed = e.block("failed"), *begun = e.block("begun");
  b.CreateCondBr(b.CreateICmpEQ(rc, b.getInt32(0)), begun, failed);
  b.SetInsertPoint(failed);
  b.CreateRet(rc);
  b.SetInsertPoint(begun);
  e.device_call = b.CreateLoad(pointer, call);
  return b.CreateLoad(word, workspace);
}

Value* end_device_call(Emitter& e) {
  return e.b.CreateCall(runtime(e.unit, "ashlar_abi1_vulkan_end", {e.b.getPtrTy()}), {e.device_call});
}

void Emitter::launch(const ir::KStmt& s) {
  if (!device_call) throw InternalError("codegen: a launch in code for a CPU");
  // entries stand in the order of the launches; a host body is emitted once, in that order
  const std::size_t number = launches_++;
  const spirv::Entry& entry = unit.shaders[0]->entries.at(number);
  auto* word = b.getInt64Ty();
  llvm::AllocaInst* grid = local(llvm::ArrayType::get(word, 3), llvm::Align(8), "grid");
  const std::size_t count = std::max<std::size_t>(entry.parameters.size(), 1);
  llvm::AllocaInst* parameters = local(llvm::ArrayType::get(word, count), llvm::Align(8), "parameters");
  for (std::size_t d = 0; d < 3; ++d) {
    const Expr& blocks = s.launch->grid[d];
    store_field(b, blocks.empty() ? static_cast<Value*>(b.getInt64(1)) : expr(blocks), grid, 8 * d);
  }
  for (const spirv::Parameter& p : entry.parameters) {
    Value* v = nullptr;
    if (p.kind == spirv::Parameter::Kind::address) {
      v = b.CreatePtrToInt(base_of(p.id), word);
    } else {
      v = value_of(p.id);
      if (v->getType()->isFloatingPointTy()) v = b.CreateBitCast(v, b.getIntNTy(v->getType()->getScalarSizeInBits()));
      v = p.type.is_signed() ? b.CreateSExt(v, word) : b.CreateZExtOrTrunc(v, word);
    }
    store_field(b, v, parameters, static_cast<std::size_t>(p.offset));
  }
  const auto run = runtime(unit, "ashlar_abi1_vulkan_run", {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()});
  b.CreateCall(run, {device_call, b.getInt32(static_cast<std::uint32_t>(number)), grid, parameters});
}

}  // namespace ashlar::codegen
