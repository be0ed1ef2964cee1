// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One kernel on its way to an object: the LLVM module, and what all of its functions share.
//
// Invariant: every access to a buffer carries an alias scope of its own and the scopes of all buffers it cannot touch. That is
// sound because entry checks that outputs overlap no other argument (unless a buffer says it may), because each stack and
// register buffer is an object of its own, and because workspace buffers of different offsets share no byte (ir/kernel.h);
// buffers in a block's shared memory are apart where their bytes are.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

#include "codegen/legalize.h"
#include "codegen/llvm/c_struct.h"

namespace ashlar::analysis {
struct NarrowIndices;
}

namespace ashlar::codegen {

namespace spirv {
struct Code;
}
namespace ptx {
struct Code;
}

class Lines;
class Profile;

class Unit {
 public:
  // host: the entries and what they call. device: the launches, for a CUDA device.
  enum class Side { host, device };
  Unit(const ir::Kernel&, const Target&, Side = Side::host);
  // A variant in a library for several targets: its functions stand in the library's module, hidden, as NAME__TARGET….
  Unit(const ir::Kernel&, const Target&, const Unit& library);

  const std::shared_ptr<llvm::LLVMContext> context;
  const std::shared_ptr<llvm::Module> module;
  const Offers offers;      // what the target has
  const ir::Kernel kernel;  // in operators that the target has (codegen/legalize.h)
  const Target& target;
  const AbiLayout layout;
  const std::string name;  // every symbol starts with it; of the simple entry, except for variants
  // A kernel for Vulkan: its launches as SPIR-V, in the form for devices whose Fma rounds once and in the other, which is null
  // where they do not differ. The host code calls the runtime in their place.
  const spirv::Code* shaders[2] = {nullptr, nullptr};
  const spirv::Code* wide_shaders[2] = {nullptr, nullptr};  // the same for calls for which `narrow_if` does not hold; or null
  Expr narrow_if;
  bool is_vulkan() const { return shaders[0] != nullptr; }
  // A kernel for a CUDA device: its launches as PTX and machine code, which the host code has the runtime load and launch.
  const ptx::Code* ptx = nullptr;
  bool is_cuda() const { return ptx != nullptr; }
  std::size_t pointer_bytes() const { return side_ == Side::device ? 8 : static_cast<std::size_t>(target.pointer_bytes()); }
  llvm::IntegerType* word() const;  // size_t and addresses
  std::size_t offset(ContextField f) const { return offset_of(f, pointer_bytes()); }
  bool is_device() const { return side_ == Side::device; }
  bool has_device() const { return is_vulkan() || is_cuda(); }

  // Of a device: which indices are computed in 32 bits; null: none.
  std::shared_ptr<const analysis::NarrowIndices> narrow;

  const bool gathers_fast;  // a gather takes less time than loads and inserts do, on the processor that code is tuned for

  std::shared_ptr<Lines> lines;      // where line tables are asked for (lines.h)
  std::shared_ptr<Profile> profile;  // where a profile is (profile.h)

  std::set<std::string> users_functions;  // that the texts of users' intrinsics call: who links the object provides them

  enum class Visibility { internal, hidden, exported };
  llvm::Function* function(const std::string& suffix, llvm::FunctionType*, Visibility);
  void tag_access(llvm::Instruction*, ir::Id buffer) const;
  bool never_written(const ir::KBuffer&) const;  // while the kernel runs
  llvm::Constant* text(const std::string&);      // a constant string; its address
  llvm::Constant* data_of(const ir::KBuffer&);   // a constant's elements; their address

 private:
  bool may_overlap(const ir::KBuffer&, const ir::KBuffer&) const;
  Unit(const ir::Kernel&, const Target&, Side, std::shared_ptr<llvm::LLVMContext>, std::shared_ptr<llvm::Module>,
       std::string name);

  const Side side_;
  bool variant_ = false;
  std::map<ir::Id, llvm::MDNode*> scope_of_, apart_from_;
  std::map<std::string, llvm::Constant*> texts_;
  std::map<ir::Id, llvm::Constant*> data_;
};

// The passes over one kernel, each adding functions to the unit.
llvm::Function* emit_body(Unit&);                       // int f.body(args*, ctx*): everything checked, workspace set
llvm::Function* emit_workspace_size(Unit&);             // size_t f_workspace_bytes(args*, ctx*)
llvm::Function* emit_run(Unit&, llvm::Function* body);  // int f_run(args*, ctx*): checks, then the body
void emit_tensor_entries(Unit&, llvm::Function* body, llvm::Function* workspace_bytes);  // the descriptor, f and f_with

// A library for several targets: of each variant what the runtime needs, and the four entries that have it choose
// (library.cpp).
struct VariantEntries {
  const Unit* unit;
  llvm::GlobalVariable* descriptor;
  llvm::Function *run, *workspace_bytes;
};
llvm::GlobalVariable* emit_descriptor(Unit&, llvm::Function* body, llvm::Function* workspace_bytes);
// f, f_with or f_prepare (which kernels for a device have): collects the arguments for `callee`, which takes `table`, their
// addresses and the context.
void emit_thunk(Unit&, const char* callee, llvm::GlobalVariable* table, const char* suffix);
void emit_library_entries(Unit& library, const std::vector<VariantEntries>&);

}  // namespace ashlar::codegen
