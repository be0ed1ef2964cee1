// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: of fma of f64 where there is no instruction, a function of the module without calls, which its expansion is; and of
// users' functions in C. Of one value: a lane at a time, declared by the types of its operands, with the extensions that the C
// ABI asks of small integers; as it is pure, LLVM may move calls, and share them. Of a box of a stage: an ashlar_tensor for
// each region, on the stack; where the function fails, the kernel does.
#include <llvm/IR/Function.h>

#include <ashlar/ir/function.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

llvm::Attribute::AttrKind extension(Type t) { return t.is_signed() ? llvm::Attribute::SExt : llvm::Attribute::ZExt; }
bool is_small(Type t) { return !t.is_float() && t.bits < 32; }

// A function that nothing in the object is called like.
llvm::Function* declared(Emitter& e, const ir::Function& f, llvm::FunctionType* type, Where where) {
  llvm::Module& m = *e.unit.module;
  if (llvm::GlobalValue* known = m.getNamedValue(f.symbol)) {
    auto* function = llvm::dyn_cast<llvm::Function>(known);
    if (!function || !function->isDeclaration() || function->getFunctionType() != type)
      refuse(f.symbol, "a symbol that nothing in the object has", "one of " + e.unit.kernel.name, where);
    return function;
  }
  e.unit.users_functions.insert(f.symbol);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, f.symbol, m);
  function->setDoesNotThrow();
  return function;
}

llvm::Function* declared_pure(Emitter& e, const ir::Function& f, Where where) {
  std::vector<llvm::Type*> parameters;
  for (const Type t : f.parameters) parameters.push_back(e.math.type(t));
  llvm::Function* function = declared(e, f, llvm::FunctionType::get(e.math.type(f.result), parameters, false), where);
  for (unsigned k = 0; k < f.parameters.size(); ++k)
    if (is_small(f.parameters[k])) function->addParamAttr(k, extension(f.parameters[k]));
  if (is_small(f.result)) function->addRetAttr(extension(f.result));
  function->setWillReturn();
  function->setDoesNotAccessMemory();
  return function;
}

llvm::Function* fma_of_module(Unit& unit, llvm::Type* real) {
  constexpr const char* name = "ashlar.fma.f64";
  if (llvm::Function* known = unit.module->getFunction(name)) return known;
  auto* f = llvm::Function::Create(llvm::FunctionType::get(real, {real, real, real}, false), llvm::Function::InternalLinkage,
                                   name, *unit.module);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  Emitter e(unit, f);
  std::vector<Expr> operands;
  for (ir::Id k = 1; k <= 3; ++k) {
    operands.push_back(ir::var(k, "", f64));
    e.bind(k, f->getArg(static_cast<unsigned>(k - 1)));
  }
  const Expr spelled = ir::expanded({ir::Op::fma, f64, operands, Where{}});
  e.b.CreateRet(e.expr(legal(spelled, unit.offers)));
  return f;
}

// A function of values, a lane at a time.
template <class F>
Value* each_lane(Emitter& e, Type t, const std::vector<Value*>& operands, F&& call) {
  if (t.lanes == 1) return call(operands);
  Value* result = llvm::PoisonValue::get(e.math.type(t));
  for (int lane = 0; lane < t.lanes; ++lane) {
    std::vector<Value*> own;
    for (Value* v : operands) own.push_back(e.b.CreateExtractElement(v, static_cast<std::uint64_t>(lane)));
    result = e.b.CreateInsertElement(result, call(own), static_cast<std::uint64_t>(lane));
  }
  return result;
}

}  // namespace

Value* Emitter::fused(Type t, Value* x, Value* y, Value* z) {
  math.require_doubles(t);
  llvm::Function* callee = fma_of_module(unit, math.type(t.element()));
  return codegen::each_lane(*this, t, {x, y, z}, [&](const std::vector<Value*>& own) { return b.CreateCall(callee, own); });
}

Value* Emitter::call_function(const Expr& x) {
  const ir::Node& n = *x.node();
  const ir::Function& f = ir::function(n.id);
  if (unit.is_device()) refuse("cuda", "formulas without functions in C, which run on the host", f.symbol, n.where);
  llvm::Function* callee = declared_pure(*this, f, n.where);
  std::vector<Value*> operands;
  for (const Expr& a : ir::args_of(x)) operands.push_back(emit(a));
  const auto attributes = [&](llvm::CallInst* call) {
    call->setAttributes(callee->getAttributes());
    return call;
  };
  return codegen::each_lane(*this, n.type, operands,
                            [&](const std::vector<Value*>& own) { return attributes(b.CreateCall(callee, own)); });
}

void Emitter::call_of_region(const ir::KCall& call, Where where) {
  const ir::Function& f = ir::function(call.function);
  auto* word = b.getInt64Ty();
  const auto list = [&](const std::vector<Expr>& values, const char* name) -> Value* {
    llvm::AllocaInst* at = local(llvm::ArrayType::get(word, std::max<std::size_t>(values.size(), 1)), llvm::Align(8), name);
    for (std::size_t d = 0; d < values.size(); ++d) store_field(b, expr(values[d]), at, 8 * d);
    return at;
  };
  std::vector<Expr> begin;
  for (const ir::Call::Actual& a : call.actuals) begin.insert(begin.end(), a.positions.begin(), a.positions.end());
  Value* first = list(begin, "begin");
  const std::size_t each = size_of(tensor_fields, unit.pointer_bytes());
  llvm::AllocaInst* regions = local(llvm::ArrayType::get(b.getInt8Ty(), call.actuals.size() * each), llvm::Align(8), "regions");
  for (std::size_t n = 0; n < call.actuals.size(); ++n) {
    const ir::Call::Actual& a = call.actuals[n];
    const ir::KBuffer& buffer = unit.kernel.buffers.at(a.buffer);
    const TensorType type = tensor_type(buffer.type);
    const auto field = [&](TensorField name, Value* value) {
      store_field(b, value, regions, n * each + offset_of(name, unit.pointer_bytes()));
    };
    field(TensorField::data, element(buffer, address(a.address)));
    field(TensorField::device_type, b.getInt32(1));
    field(TensorField::device_id, b.getInt32(0));
    field(TensorField::ndim, b.getInt32(static_cast<std::uint32_t>(a.extents.size())));
    field(TensorField::type_code, b.getInt8(type.code));
    field(TensorField::type_bits, b.getInt8(type.bits));
    field(TensorField::type_lanes, b.getInt16(1));
    field(TensorField::shape, list(a.extents, "shape"));
    field(TensorField::strides, list(a.strides, "strides"));
    field(TensorField::byte_offset, b.getInt64(0));
  }
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  Value* rc = b.CreateCall(declared(*this, f, type, where), {regions, first});
  llvm::BasicBlock *failed = block("failed"), *done = block("done");
  b.CreateCondBr(b.CreateICmpEQ(rc, b.getInt32(0)), done, failed);
  b.SetInsertPoint(failed);
  if (context)
    give(b.CreateCall(fail_function(unit),
                      {context, b.getInt32(static_cast<std::uint32_t>(ASHLAR_E_LAUNCH)), b.getInt32(UINT32_MAX),
                       b.getInt32(UINT32_MAX), b.getInt64(0), b.CreateSExt(rc, word),
                       unit.text(unit.kernel.name + ": " + f.symbol + " returned {found}, expected {expected}")}));
  else
    give(rc);  // of a worker: parallel_for hands it on
  b.SetInsertPoint(done);
}

}  // namespace ashlar::codegen
