// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Kernels in this process: loads the object that emit() would write and links it to the runtime.
//
//   Compiled f = codegen::compile(kernel, Target::host());
//   const void* arguments[] = {&A, &alpha, &C};           // ashlar_tensor*, or the address of a scalar, in declared order
//   if (f.call(arguments) != ASHLAR_OK) …                 // ashlar_last_error() says why
//
// A Compiled is a reference-counted handle: the code lives as long as its last copy. Several threads may call it concurrently.
#include <cstddef>
#include <memory>
#include <span>

#include <ashlar/codegen/emit.h>
#include <ashlar/runtime/desc.h>

namespace ashlar::codegen {

class Compiled {
 public:
  // The checked entry on tensors. Without a context it uses the runtime's own pool and allocator.
  int call(std::span<const void* const> arguments, const ashlar_context* = nullptr) const;
  // f_prepare: loads what a later call needs and launches nothing.
  int prepare(std::span<const void* const> arguments, const ashlar_context* = nullptr) const;
  // The entry on plain pointers: `args` is an f_args (codegen/abi_layout.h).
  int run(const void* args, const ashlar_context*) const;
  std::size_t workspace_bytes(const void* args, const ashlar_context*) const;
  const ashlar_abi1_desc& descriptor() const;
  void* address(const char* symbol) const;  // of f, f_with, …; null for other names

 private:
  struct Code;
  explicit Compiled(std::shared_ptr<Code> code) : code_(std::move(code)) {}
  const ashlar_abi1_desc* taking(std::size_t arguments) const;  // the descriptor, if it has that many arguments
  friend Compiled compile(const ir::Kernel&, const Target&, Seconds*);
  friend Compiled load(const std::string& object, const ir::Kernel&, const Target&);
  std::shared_ptr<Code> code_;
};

// Refused: a target that this machine cannot execute, or one without an operating system.
void require_loadable(const Target&);
// Loads an object that emit() made from the kernel, for a loadable target.
Compiled load(const std::string& object, const ir::Kernel&, const Target&);
// Calls emit(), then load(). codegen/cache.h has a version that reuses cached objects.
Compiled compile(const ir::Kernel&, const Target&, Seconds* = nullptr);

}  // namespace ashlar::codegen
