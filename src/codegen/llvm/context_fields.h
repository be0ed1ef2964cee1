// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Fields of the C structures of runtime/abi.h and runtime/desc.h, as generated code reads and writes them.
#include <cstddef>

#include <llvm/IR/IRBuilder.h>

#include <ashlar/codegen/launches.h>
#include <ashlar/runtime/desc.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

inline llvm::Value* field_address(llvm::IRBuilder<>& b, llvm::Value* structure, std::size_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), structure, offset);
}
inline llvm::Value* load_field(llvm::IRBuilder<>& b, llvm::Type* type, llvm::Value* structure, std::size_t offset) {
  return b.CreateLoad(type, field_address(b, structure, offset));
}
inline void store_field(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Value* structure, std::size_t offset) {
  b.CreateStore(value, field_address(b, structure, offset));
}

// The scalar arguments, symbols and strides of f_args, bound to the variables that stand for them.
void bind_arguments(Emitter&, llvm::Value* args);
// The same, where a stride of 0 means dense. Extents are not checked for overflow.
void bind_dense_arguments(Emitter&, llvm::Value* args);
// i32: how many bodies may run at the same time under a context that is not null; at least 1.
llvm::Value* slots_of(Emitter&, llvm::Value* context);

// The workspace: the shared region, then one region for each slot. All sizes are multiples of its alignment.
struct WorkspaceBytes {
  llvm::Value *shared, *each, *total;  // i64
  llvm::Value* overflow;               // i1: more than 63 bits hold
};
bool has_workspace(const ir::Kernel&);
WorkspaceBytes workspace_bytes(Emitter&, llvm::Value* slots);

// A kernel for a device: the constant that tells the runtime of its launches, and the statements that begin a call (i64: the
// address of the workspace) and end it (i32: a code). vulkan.cpp, cuda.cpp.
llvm::Value* begin_vulkan_call(Emitter&, llvm::Value* context, const WorkspaceBytes*);
llvm::Value* end_vulkan_call(Emitter&);
llvm::Value* begin_cuda_call(Emitter&, llvm::Value* context, const WorkspaceBytes*);
llvm::Value* end_cuda_call(Emitter&);
// What both begin with: a call of the runtime's function `begin`, which stores into `call` and the address of the workspace
// into what this returns; the function returns its code if it fails.
// Whether a condition over symbols and strides holds, and none of its parts leaves 63 bits.
llvm::Value* holds_without_overflow(Emitter&, const Expr& condition);
llvm::Value* begin_device_call(Emitter&, const char* begin, llvm::Value* module, llvm::Value* context, const WorkspaceBytes*,
                               llvm::Value* call);
void check_host_body(const Unit&);                   // refused: what the host of a device cannot do (device.cpp)
llvm::Value* in_word(Emitter&, llvm::Value*, Type);  // a scalar in 8 bytes
// What a launch is given, 8 bytes each, stored from `to` on.
void store_parameters(Emitter&, const std::vector<LaunchParameter>&, llvm::Value* to);
llvm::FunctionCallee runtime_function(Unit&, const char* name, std::initializer_list<llvm::Type*> parameters);  // returns i32

// A constant of a kernel for a device, made of records: fields as the C structure has them.
class Record {
 public:
  explicit Record(Unit& u) : unit_(u), c_(*u.context) {}
  llvm::Constant* i64c(std::uint64_t v) const { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(c_), v); }
  template <class T>
  llvm::Constant* i32c(T v) const {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(c_), static_cast<std::uint32_t>(v));
  }
  llvm::Constant* null() const { return llvm::ConstantPointerNull::get(llvm::PointerType::get(c_, 0)); }
  llvm::Constant* of(std::initializer_list<llvm::Constant*> fields) const {
    return llvm::ConstantStruct::getAnon(c_, llvm::ArrayRef(fields.begin(), fields.size()));
  }
  llvm::Constant* array(const std::vector<llvm::Constant*>& rows) const {
    return llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows);
  }
  llvm::Constant* global(llvm::Constant* value, const char* suffix) const;
  void check(llvm::Constant* row, std::size_t size) const;  // InternalError unless it has the C structure's size

 private:
  Unit& unit_;
  llvm::LLVMContext& c_;
};

// int f.fail(ctx*, code, argument, dimension, expected, found, what): records an error where there is a place for it.
llvm::Function* fail_function(Unit&);

}  // namespace ashlar::codegen
