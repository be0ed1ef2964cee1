#include <ashlar/codegen/emit.h>

#include <time.h>

#include <algorithm>
#include <array>

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/spirv.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/vulkan.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {

namespace {

// What an object may leave undefined: the entry of the runtime, those of Vulkan in kernels for it, and the three functions of
// memory that any C compiler may call.
constexpr std::array<std::string_view, 7> references = {"ashlar_abi1_call",
                                                        "ashlar_abi1_vulkan_begin",
                                                        "ashlar_abi1_vulkan_end",
                                                        "ashlar_abi1_vulkan_run",
                                                        "memcpy",
                                                        "memmove",
                                                        "memset"};

double cpu_seconds() {  // of this thread
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) throw InternalError("codegen: malformed LLVM IR: " + text);
}

// The launches of a kernel as SPIR-V, in one form or in the two of Unit::shaders; none where the target is no Vulkan device.
using Shaders = std::vector<spirv::Code>;

Shaders shaders_of(const ir::Kernel& kernel, const Target& target) {
  const bool launches = !launches_of(kernel).empty();
  if (!target.is_gpu()) {
    if (launches)
      refuse("target", "a target with a device, for the launches of kernel `" + kernel.name + "`", std::string(target.text()),
             Where{});
    return {};
  }
  if (target.device().kind != Device::Kind::vulkan)
    refuse("target", "vulkan, the one device that this back end makes code for", std::string(target.text()), Where{});
  if (!launches)
    refuse("vulkan", "a schedule that binds loops to blocks and threads", "kernel `" + kernel.name + "`, which has no launch",
           Where{});
#ifdef ASHLAR_HAS_SPIRV
  Shaders shaders;
  shaders.push_back(spirv::translate(kernel));
  if ((shaders[0].features & ASHLAR_VULKAN_FMA32) != 0) shaders.push_back(spirv::translate(kernel, {.native_fma = false}));
  return shaders;
#else
  refuse("target", "an ashlar that was built with ASHLAR_VULKAN", "one built without it", Where{});
#endif
}

std::string spirv_bytes(const Shaders& shaders, const Target& target) {
  if (shaders.empty()) refuse("spirv", "the target vulkan", std::string(target.text()), Where{});
  const auto& words = shaders[0].words;
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

}  // namespace

std::span<const std::string_view> allowed_references() { return references; }
std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string archive(const std::string& object, const std::string& member) {
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(object, member));
  auto buffer = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                           /*Deterministic=*/true, /*Thin=*/false);
  if (!buffer) throw InternalError("codegen: " + llvm::toString(buffer.takeError()));
  return (*buffer)->getBuffer().str();
}

void check_references(const std::string& object, const std::string& name) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, name));
  if (!file) throw InternalError("codegen: " + llvm::toString(file.takeError()));
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto text = symbol.getName();
    if (!flags || !text) throw InternalError("codegen: an unreadable symbol in the object of " + name);
    if (!(*flags & llvm::object::BasicSymbolRef::SF_Undefined) || text->empty()) continue;
    if (std::find(references.begin(), references.end(), std::string_view(*text)) == references.end())
      throw InternalError("codegen: the object of " + name + " refers to " + text->str() + ", which is not in the closed list");
  }
}

std::vector<std::string> emit(const ir::Kernel& kernel, const Target& target, std::span<const Output> outputs,
                              Seconds* seconds) {
  const double begin = cpu_seconds();
  const Shaders shaders = shaders_of(kernel, target);
  if (std::all_of(outputs.begin(), outputs.end(), [](Output o) { return o == Output::spirv; })) {
    if (seconds) seconds->build += cpu_seconds() - begin;
    return std::vector<std::string>(outputs.size(), spirv_bytes(shaders, target));
  }
  Unit unit(kernel, target);
  for (std::size_t v = 0; v < shaders.size(); ++v) unit.shaders[v] = &shaders[v];
  llvm::Function* body = emit_body(unit);
  llvm::Function* workspace_bytes = emit_workspace_size(unit);
  emit_run(unit, body);
  if (target.os() != "none") emit_tensor_entries(unit, body, workspace_bytes);
  verify(*unit.module);
  if (seconds) seconds->build += cpu_seconds() - begin;

  const double passes = cpu_seconds();
  const auto machine = target_machine(target);
  if (machine->createDataLayout() != unit.module->getDataLayout())
    throw InternalError("codegen: two data layouts for one target");
  optimise(*unit.module, *machine);
  std::string object;
  std::vector<std::string> results;
  for (const Output output : outputs) {
    if (output == Output::spirv) {
      results.push_back(spirv_bytes(shaders, target));
      continue;
    }
    if (output == Output::llvm) {
      std::string text;
      llvm::raw_string_ostream out(text);
      unit.module->print(out, nullptr);
      results.push_back(std::move(text));
      continue;
    }
    if (output == Output::assembly) {
      const auto copy = llvm::CloneModule(*unit.module);
      results.push_back(machine_code(*copy, *machine, true));
      continue;
    }
    if (object.empty()) {
      const auto copy = llvm::CloneModule(*unit.module);
      object = machine_code(*copy, *machine, false);
      check_references(object, unit.name);
    }
    results.push_back(output == Output::object ? object : archive(object, unit.name + ".o"));
  }
  if (seconds) seconds->llvm += cpu_seconds() - passes;
  return results;
}

std::string emit(const ir::Kernel& kernel, const Target& target, Output output, Seconds* seconds) {
  return emit(kernel, target, std::span(&output, 1), seconds)[0];
}

}  // namespace ashlar::codegen
