// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A kernel compiled into this process: the bytes that emit() would write as an object, loaded and linked to the runtime.
//
//   Compiled f = codegen::compile(kernel, Target::host());
//   const void* arguments[] = {&A, &alpha, &C};           // ashlar_tensor*, or the address of a scalar, as declared
//   if (f.call(arguments) != ASHLAR_OK) …                 // ashlar_last_error() says why
//
// A Compiled is a counted handle: the code lives as long as its last copy. Calls may come from several threads at a time.
#include <cstddef>
#include <memory>
#include <span>

#include <ashlar/codegen/emit.h>
#include <ashlar/runtime/desc.h>

namespace ashlar::codegen {

class Compiled {
 public:
  // The checked entry on tensors; without a context, the runtime's own pool and allocator.
  int call(std::span<const void* const> arguments, const ashlar_context* = nullptr) const;
  // The checked entry on plain pointers: `args` is an f_args (codegen/abi_layout.h).
  int run(const void* args, const ashlar_context*) const;
  std::size_t workspace_bytes(const void* args, const ashlar_context*) const;
  const ashlar_abi1_desc& descriptor() const;
  void* address(const char* symbol) const;  // of f, f_with, …; null when there is none

 private:
  struct Code;
  explicit Compiled(std::shared_ptr<Code> code) : code_(std::move(code)) {}
  friend Compiled compile(const ir::Kernel&, const Target&, Seconds*);
  friend Compiled load(const std::string& object, const ir::Kernel&, const Target&);
  std::shared_ptr<Code> code_;
};

// Refused when this machine cannot execute code for the target, or the target is one without operating system.
void require_loadable(const Target&);
// What emit() made of the kernel, for a target that is loadable.
Compiled load(const std::string& object, const ir::Kernel&, const Target&);
// Both, and emit() between them. codegen/cache.h has the same with objects that were made before.
Compiled compile(const ir::Kernel&, const Target&, Seconds* = nullptr);

}  // namespace ashlar::codegen
