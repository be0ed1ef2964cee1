// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entries on tensors: f, f_with and f_prepare, thunks over one constant descriptor (runtime/desc.h), and the descriptor
// itself.
#include <cstddef>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <ashlar/codegen/affine.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/target/needs.h>

#include "codegen/llvm/context_fields.h"
#include "codegen/workspace_text.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

class Descriptor {
 public:
  explicit Descriptor(Unit& u) : unit(u), c(*u.context), k(u.kernel) {}

  Constant* i64c(std::int64_t v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(c), v); }
  Constant* i32c(std::int64_t v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(c), v); }
  Constant* u8c(unsigned v) { return llvm::ConstantInt::get(llvm::Type::getInt8Ty(c), v); }
  Constant* null() { return llvm::ConstantPointerNull::get(llvm::PointerType::get(c, 0)); }
  Constant* record(std::initializer_list<Constant*> fields) {
    return llvm::ConstantStruct::getAnon(c, llvm::ArrayRef(fields.begin(), fields.size()));
  }

  // A constant array with internal linkage; null when it is empty.
  Constant* table(const std::vector<Constant*>& rows) {
    if (rows.empty()) return null();
    auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
    auto* g = new llvm::GlobalVariable(*unit.module, type, true, llvm::GlobalValue::PrivateLinkage,
                                       llvm::ConstantArray::get(type, rows), unit.name + ".table");
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return g;
  }

  Constant* dimension(const Expr& extent) {
    const auto a = affine(extent);
    std::vector<Constant*> terms;
    std::int64_t constant = 0, index = -1;
    if (a) {
      constant = a->constant;
      for (std::size_t s = 0; s < symbols.size(); ++s)
        if (const auto it = a->terms.find(symbols[s]); it != a->terms.end())
          terms.push_back(record({i64c(it->second), i64c(static_cast<std::int64_t>(s))}));
      if (terms.size() != a->terms.size())
        throw InternalError("codegen: an extent of kernel " + k.name + " uses something that is not a symbol");
    } else {
      index = static_cast<std::int64_t>(computed.size());
      computed.push_back(extent);
    }
    const auto count = static_cast<std::int64_t>(terms.size());
    return record({unit.text(ir::text(extent)), i64c(constant), table(terms), i32c(count), i32c(index)});
  }

  Constant* tensor(const ir::Argument& a) {
    const ir::Buffer& buffer = k.argument_buffers.at(a.id);
    const auto kb = k.buffers.find(a.id);
    std::vector<Constant*> dims, strides;
    bool any = false;
    for (std::size_t d = 0; d < buffer.extents.size(); ++d) {
      dims.push_back(dimension(buffer.extents[d]));
      std::int64_t at = -1;
      for (const ArgField& f : unit.layout.fields)
        if (f.kind == ArgField::Kind::stride && f.buffer == a.id && f.dim == static_cast<int>(d)) at = f.offset;
      any = any || at >= 0;
      strides.push_back(i32c(at));
    }
    const TensorType type = tensor_type(buffer.type);
    const int order = buffer.order == ir::Buffer::Order::dense ? ASHLAR_ABI1_DENSE
                      : buffer.order == ir::Buffer::Order::any ? ASHLAR_ABI1_ANY
                                                               : ASHLAR_ABI1_INNER_UNIT_STRIDE;
    return record({unit.text(buffer.name), table(dims), any ? table(strides) : null(),
                   i64c(std::max(buffer.align, kb == k.buffers.end() ? 0 : kb->second.align)),
                   i32c(a.kind == ir::ArgumentKind::output ? ASHLAR_ABI1_OUTPUT : ASHLAR_ABI1_INPUT),
                   i32c(static_cast<std::int64_t>(dims.size())), i32c(order),
                   i32c(a.kind == ir::ArgumentKind::output && buffer.may_alias_inputs ? ASHLAR_ABI1_MAY_ALIAS : 0),
                   i32c(unit.layout.field(ArgField::Kind::pointer, a.id).offset), i32c(0), u8c(type.code), u8c(type.bits),
                   llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(c), 6))});
  }

  Constant* scalar(const ir::Argument& a) {
    const ir::ScalarArg& s = k.scalars.at(a.id);
    const ArgField& f = unit.layout.field(ArgField::Kind::scalar, a.id);
    const TensorType type = tensor_type(s.type);
    return record({unit.text(s.name), null(), null(), i64c(0), i32c(ASHLAR_ABI1_SCALAR), i32c(0), i32c(0), i32c(0),
                   i32c(f.offset), i32c(f.bytes), u8c(type.code), u8c(type.bits),
                   llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(c), 6))});
  }

  void bind_symbols(Emitter& e, Value* values) {
    for (std::size_t s = 0; s < symbols.size(); ++s)
      e.bind(symbols[s], load_field(e.b, e.b.getInt64Ty(), values, 8 * s), k.symbols.at(symbols[s]).multiple_of);
  }

  Constant* shape_callback() {
    if (computed.empty()) return null();
    auto* pointer = llvm::PointerType::get(c, 0);
    llvm::Function* f = unit.function(".shape", llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, pointer}, false),
                                      Unit::Visibility::internal);
    Emitter e(unit, f);
    bind_symbols(e, f->getArg(0));
    for (std::size_t n = 0; n < computed.size(); ++n) store_field(e.b, e.expr(computed[n]), f->getArg(1), 8 * n);
    e.b.CreateRetVoid();
    return f;
  }

  Constant* assume_callback() {
    if (k.assumptions.empty()) return null();
    auto* pointer = llvm::PointerType::get(c, 0);
    llvm::Function* f = unit.function(".assume", llvm::FunctionType::get(llvm::Type::getInt32Ty(c), {pointer}, false),
                                      Unit::Visibility::internal);
    Emitter e(unit, f);
    bind_symbols(e, f->getArg(0));
    for (std::size_t n = 0; n < k.assumptions.size(); ++n) {
      Value* overflow = e.b.getFalse();
      Value* holds = e.checked(k.assumptions[n], &overflow);
      llvm::BasicBlock *broken = e.block("broken"), *next = e.block("next");
      e.b.CreateCondBr(e.b.CreateAnd(holds, e.b.CreateNot(overflow)), next, broken);
      e.b.SetInsertPoint(broken);
      e.b.CreateRet(e.b.getInt32(static_cast<std::uint32_t>(n + 1)));
      e.b.SetInsertPoint(next);
    }
    e.b.CreateRet(e.b.getInt32(0));
    return f;
  }

  llvm::GlobalVariable* emit(llvm::Function* body, llvm::Function* workspace_bytes) {
    for (const ArgField& f : unit.layout.fields)
      if (f.kind == ArgField::Kind::symbol) symbols.push_back(f.id);
    std::vector<Constant*> arguments, symbol_rows, assumption_rows;
    for (const ir::Argument& a : k.arguments) arguments.push_back(a.kind == ir::ArgumentKind::scalar ? scalar(a) : tensor(a));
    for (ir::Id id : symbols) {
      const ir::Symbol& s = k.symbols.at(id);
      symbol_rows.push_back(record({unit.text(s.name), i64c(std::max<std::int64_t>(s.min, 0)), i64c(s.max), i64c(s.multiple_of),
                                    i32c(unit.layout.field(ArgField::Kind::symbol, id).offset), i32c(0)}));
    }
    for (const Expr& a : k.assumptions) assumption_rows.push_back(unit.text(ir::text(a)));
    const bool workspace = has_workspace(k);
    auto count = [&](const auto& rows) { return i32c(static_cast<std::int64_t>(rows.size())); };
    Constant* shape = shape_callback();
    Constant* assume = assume_callback();
    const std::size_t bytes = size_of(descriptor_fields, unit.pointer_bytes());
    constexpr int host_memory = 1, cuda_memory = 2, vulkan_memory = 7;
    Constant* value =
        record({i32c(1),
                i32c(static_cast<std::int64_t>(bytes)),
                unit.text(k.name),
                i32c(unit.is_vulkan() ? vulkan_memory
                     : unit.is_cuda() ? cuda_memory
                                      : host_memory),
                i32c(0),
                i64c(static_cast<std::int64_t>(needs_of(unit.target).features)),
                count(arguments),
                count(symbol_rows),
                count(computed),
                count(assumption_rows),
                i32c(unit.layout.bytes),
                table(arguments),
                table(symbol_rows),
                table(assumption_rows),
                shape,
                assume,
                workspace ? workspace_bytes : null(),
                llvm::ConstantInt::get(unit.word(), workspace ? static_cast<std::uint64_t>(k.workspace_align) : 0),
                body,
                workspace ? unit.text(workspace_stages(k)) : null()});
    const llvm::DataLayout& layout = unit.module->getDataLayout();
    auto check = [&](Constant* row, std::size_t size) {
      if (layout.getTypeAllocSize(row->getType()) != size)
        throw InternalError("codegen: the descriptor's layout is not that of desc.h");
    };
    check(value, bytes);
    if (!arguments.empty() && unit.pointer_bytes() == sizeof(void*)) check(arguments[0], sizeof(ashlar_abi1_argument));
    if (!symbol_rows.empty() && unit.pointer_bytes() == sizeof(void*)) check(symbol_rows[0], sizeof(ashlar_abi1_symbol));
    auto* g = new llvm::GlobalVariable(*unit.module, value->getType(), true, llvm::GlobalValue::ExternalLinkage, value,
                                       unit.name + "_abi1_desc");
    g->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return g;
  }

  Unit& unit;
  llvm::LLVMContext& c;
  const ir::Kernel& k;
  std::vector<ir::Id> symbols;
  std::vector<Expr> computed;
};

}  // namespace

void emit_thunk(Unit& unit, const char* callee, llvm::GlobalVariable* table, const char* suffix) {
  const bool with_context = *suffix != '\0';
  llvm::LLVMContext& c = *unit.context;
  auto* pointer = llvm::PointerType::get(c, 0);
  auto* i32_type = llvm::Type::getInt32Ty(c);
  auto call = unit.module->getOrInsertFunction(callee, llvm::FunctionType::get(i32_type, {pointer, pointer, pointer}, false));
  llvm::IRBuilder<> builder(c);
  const Arithmetic types(builder, unit.target);
  std::vector<llvm::Type*> parameters;
  for (const ir::Argument& a : unit.kernel.arguments)
    parameters.push_back(a.kind == ir::ArgumentKind::scalar ? types.memory_type(unit.kernel.scalars.at(a.id).type) : pointer);
  if (with_context) parameters.push_back(pointer);
  llvm::Function* f = unit.function(suffix, llvm::FunctionType::get(i32_type, parameters, false), Unit::Visibility::exported);
  Emitter e(unit, f);
  const std::size_t count = unit.kernel.arguments.size();
  llvm::AllocaInst* list = e.local(llvm::ArrayType::get(pointer, std::max<std::size_t>(count, 1)), llvm::Align(8), "arguments");
  for (unsigned n = 0; n < count; ++n) {
    Value* at = f->getArg(n);
    if (unit.kernel.arguments[n].kind == ir::ArgumentKind::scalar) {
      const Type t = unit.kernel.scalars.at(unit.kernel.arguments[n].id).type;
      if (t.bytes() < 4 && !t.is_float()) f->addParamAttr(n, t.is_signed() ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
      if (t.bytes() < 4 && t.is_float()) f->addParamAttr(n, llvm::Attribute::ZExt);
      llvm::AllocaInst* value = e.local(at->getType(), llvm::Align(static_cast<std::uint64_t>(t.bytes())), "scalar");
      e.b.CreateStore(at, value);
      at = value;
    }
    store_field(e.b, at, list, unit.pointer_bytes() * n);
  }
  Value* context =
      with_context ? static_cast<Value*>(f->getArg(static_cast<unsigned>(count))) : llvm::ConstantPointerNull::get(pointer);
  e.b.CreateRet(e.b.CreateCall(call, {table, list, context}));
}

llvm::GlobalVariable* emit_descriptor(Unit& unit, llvm::Function* body, llvm::Function* workspace_bytes) {
  return Descriptor(unit).emit(body, workspace_bytes);
}

void emit_tensor_entries(Unit& unit, llvm::Function* body, llvm::Function* workspace_bytes) {
  llvm::GlobalVariable* descriptor = emit_descriptor(unit, body, workspace_bytes);
  emit_thunk(unit, "ashlar_abi1_call", descriptor, "");
  emit_thunk(unit, "ashlar_abi1_call", descriptor, "_with");
  if (unit.has_device()) emit_thunk(unit, "ashlar_abi1_prepare", descriptor, "_prepare");
}

}  // namespace ashlar::codegen
