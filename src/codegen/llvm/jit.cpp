// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/jit.h>

#include <cstring>

#include <dlfcn.h>

#if __has_include(<llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>)  // LLVM 19 has its content in LLJIT.h
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#endif
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/cuda.h>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/of_vulkan.h"

namespace ashlar::codegen {

namespace {

template <class T>
T taken(llvm::Expected<T> value) {
  if (!value) throw InternalError("codegen: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void taken(llvm::Error error) {
  if (error) throw InternalError("codegen: " + llvm::toString(std::move(error)));
}

}  // namespace

struct Compiled::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const ashlar_abi1_desc* descriptor = nullptr;
  int (*run)(const void*, const ashlar_context*) = nullptr;
  std::size_t (*workspace_bytes)(const void*, const ashlar_context*) = nullptr;
};

void require_loadable(const Target& target) {
  std::string missing;
  if (!target.runs_here(&missing))
    refuse("compile", "a target that this machine can execute", std::string(target.text()) + ", which needs " + missing,
           Where{});
  if (target.os() == "none") refuse("compile", "a target with an operating system", std::string(target.text()), Where{});
}

Compiled compile(const ir::Kernel& kernel, const Target& target, Seconds* seconds) {
  require_loadable(target);
  return load(emit(kernel, target, Output::object, seconds), kernel, target);
}

Compiled load(const std::string& object, const ir::Kernel& kernel, const Target& target) {
  initialize_targets();
  const std::string name = c_identifier(kernel.name);
  auto code = std::make_shared<Compiled::Code>();
  auto builder = taken(llvm::orc::JITTargetMachineBuilder::detectHost());
  code->jit = taken(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
  llvm::orc::LLJIT& jit = *code->jit;
  llvm::orc::SymbolMap known;
  auto provide = [&](const char* symbol, auto* function) {
    known[jit.mangleAndIntern(symbol)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  provide("ashlar_abi1_call", &ashlar_abi1_call);
  provide("ashlar_abi1_prepare", &ashlar_abi1_prepare);
  provide("ashlar_abi1_cuda_begin", &ashlar_abi1_cuda_begin);
  provide("ashlar_abi1_cuda_run", &ashlar_abi1_cuda_run);
  provide("ashlar_abi1_cuda_end", &ashlar_abi1_cuda_end);
  for (const auto& [symbol, function] : vulkan_entries()) provide(symbol, function);
  provide("memcpy", static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy));
  provide("memmove", static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove));
  provide("memset", static_cast<void* (*)(void*, int, std::size_t)>(&std::memset));
  for (const std::string& f : references_beyond(object, name, target)) {  // of the process, where it exports them
    const ir::Function* declared = ir::function_of(f);
    void* address = declared && declared->region ? reinterpret_cast<void*>(declared->compute)
                    : declared                   ? reinterpret_cast<void*>(declared->address)
                                                 : nullptr;
    if (!address) address = dlsym(RTLD_DEFAULT, f.c_str());
    if (!address)
      refuse("compile",
             "functions in C that were declared with their address, or that this process exports (link it with -rdynamic)",
             f + ", which it does not", Where{});
    known[jit.mangleAndIntern(f)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  }
  taken(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(known))));
  taken(jit.addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, name + ".o")));
  auto find = [&](const std::string& suffix) { return taken(jit.lookup(name + suffix)); };
  code->descriptor = find("_abi1_desc").toPtr<const ashlar_abi1_desc*>();
  code->run = find("_run").toPtr<int (*)(const void*, const ashlar_context*)>();
  code->workspace_bytes = find("_workspace_bytes").toPtr<std::size_t (*)(const void*, const ashlar_context*)>();
  return Compiled(std::move(code));
}

const ashlar_abi1_desc* Compiled::taking(std::size_t arguments) const {
  if (arguments != static_cast<std::size_t>(code_->descriptor->argument_count))
    refuse("call", std::to_string(code_->descriptor->argument_count) + " arguments of " + code_->descriptor->name,
           std::to_string(arguments), Where{});
  return code_->descriptor;
}

int Compiled::call(std::span<const void* const> arguments, const ashlar_context* ctx) const {
  return ashlar_abi1_call(taking(arguments.size()), arguments.data(), ctx);
}

int Compiled::prepare(std::span<const void* const> arguments, const ashlar_context* ctx) const {
  return ashlar_abi1_prepare(taking(arguments.size()), arguments.data(), ctx);
}

int Compiled::run(const void* args, const ashlar_context* ctx) const { return code_->run(args, ctx); }
std::size_t Compiled::workspace_bytes(const void* args, const ashlar_context* ctx) const {
  return code_->workspace_bytes(args, ctx);
}
const ashlar_abi1_desc& Compiled::descriptor() const { return *code_->descriptor; }

void* Compiled::address(const char* symbol) const {
  auto found = code_->jit->lookup(symbol);
  if (found) return found->toPtr<void*>();
  llvm::consumeError(found.takeError());  // documented: null
  return nullptr;
}

}  // namespace ashlar::codegen
