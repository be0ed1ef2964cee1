#pragma once
// Fields of the C structures of runtime/abi.h and runtime/desc.h, as generated code reads and writes them.
#include <cstddef>

#include <llvm/IR/IRBuilder.h>

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

// A kernel for Vulkan: the constant that tells the runtime of its launches, and the statements that begin and end a call.
llvm::Value* begin_device_call(Emitter&, llvm::Value* context, const WorkspaceBytes*);  // i64: the address of the workspace
llvm::Value* end_device_call(Emitter&);                                                 // i32: a code
void check_host_body(const Unit&);  // refused: what the host of a device cannot do

// int f.fail(ctx*, code, argument, dimension, expected, found, what): records an error where there is a place for it.
llvm::Function* fail_function(Unit&);

}  // namespace ashlar::codegen
