// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library for several targets: the table of its variants, and the four entries, which hand it to the runtime. The names and
// signatures are those of a library for one target.
//
//   int f(const ashlar_tensor* A, …)  { return ashlar_abi1_library_call(&f_abi1_library, (const void*[]){A, …}, NULL); }
//   int f_run(const f_args* a, const ashlar_context* c)  { return ashlar_abi1_library_run(&f_abi1_library, a, c); }
#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

Constant* settle_of(Unit& library, const Unit& variant) {
  const Record r(library);
  if (!variant.has_device()) return r.null();
  llvm::Type* pointer = llvm::PointerType::get(*library.context, 0);
  auto f = runtime_function(library, variant.is_vulkan() ? "ashlar_abi1_vulkan_settle" : "ashlar_abi1_cuda_settle",
                            {pointer, pointer, pointer});
  return llvm::cast<Constant>(f.getCallee());
}

void forward(Unit& library, const char* suffix, llvm::Type* result, const char* callee, llvm::GlobalVariable* table) {
  auto* pointer = llvm::PointerType::get(*library.context, 0);
  const auto type = llvm::FunctionType::get(result, {pointer, pointer, pointer}, false);
  const auto target = library.module->getOrInsertFunction(callee, type);
  llvm::Function* f =
      library.function(suffix, llvm::FunctionType::get(result, {pointer, pointer}, false), Unit::Visibility::exported);
  Emitter e(library, f);
  e.b.CreateRet(e.b.CreateCall(target, {table, f->getArg(0), f->getArg(1)}));
}

}  // namespace

void emit_library_entries(Unit& library, const std::vector<VariantEntries>& variants) {
  const Record r(library);
  std::vector<Constant*> rows;
  for (const VariantEntries& v : variants) {
    rows.push_back(r.of({library.text(std::string(v.unit->target.text())), v.descriptor, v.run, v.workspace_bytes,
                         settle_of(library, *v.unit)}));
    r.check(rows.back(), size_of(variant_fields, library.pointer_bytes()));
  }
  const std::size_t bytes = size_of(library_fields, library.pointer_bytes());
  Constant* value = r.of({r.i32c(1), r.i32c(bytes), library.text(library.kernel.name), r.i32c(rows.size()), r.i32c(0),
                          r.global(r.array(rows), ".variants")});
  r.check(value, bytes);
  auto* table = new llvm::GlobalVariable(*library.module, value->getType(), true, llvm::GlobalValue::ExternalLinkage, value,
                                         library.name + "_abi1_library");
  table->setVisibility(llvm::GlobalValue::HiddenVisibility);
  emit_thunk(library, "ashlar_abi1_library_call", table, "");
  emit_thunk(library, "ashlar_abi1_library_call", table, "_with");
  if (std::any_of(variants.begin(), variants.end(), [](const VariantEntries& v) { return v.unit->has_device(); }))
    emit_thunk(library, "ashlar_abi1_library_prepare", table, "_prepare");
  auto* integer = llvm::Type::getInt32Ty(*library.context);
  forward(library, "_run", integer, "ashlar_abi1_library_run", table);
  forward(library, "_workspace_bytes", library.word(), "ashlar_abi1_library_workspace_bytes", table);
}

}  // namespace ashlar::codegen
