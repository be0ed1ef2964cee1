#include <ashlar/codegen/emit.h>

#include <time.h>

#include <algorithm>
#include <array>
#include <optional>

#include <llvm/Config/llvm-config.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/ptx.h>
#include <ashlar/codegen/spirv.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/vulkan.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {

namespace {

// What an object may leave undefined: the entry of the runtime, those of a device in kernels for it, and the three functions of
// memory that any C compiler may call.
constexpr std::array<std::string_view, 10> references = {"ashlar_abi1_call",
                                                         "ashlar_abi1_cuda_begin",
                                                         "ashlar_abi1_cuda_end",
                                                         "ashlar_abi1_cuda_run",
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

// The launches of a kernel as its device takes them.
struct DeviceCode {
  std::vector<spirv::Code> shaders;  // Vulkan: in one form or in the two of Unit::shaders
  std::optional<ptx::Code> ptx;      // CUDA
};

DeviceCode device_code(const ir::Kernel& kernel, const Target& target) {
  const bool launches = !launches_of(kernel).empty();
  if (!target.is_gpu()) {
    if (launches)
      refuse("target", "a target with a device, for the launches of kernel `" + kernel.name + "`", std::string(target.text()),
             Where{});
    return {};
  }
  const bool cuda = target.device().kind == Device::Kind::cuda;
  if (!launches)
    refuse(cuda ? "cuda" : "vulkan", "a schedule that binds loops to blocks and threads",
           "kernel `" + kernel.name + "`, which has no launch", Where{});
  DeviceCode code;
  if (cuda) {
    code.ptx = ptx::translate(kernel, target);
    code.ptx->cubin = ptx::cubin(code.ptx->text, target.device().chip).value_or("");
    return code;
  }
#ifdef ASHLAR_HAS_SPIRV
  auto& shaders = code.shaders;
  shaders.push_back(spirv::translate(kernel));
  if ((shaders[0].features & ASHLAR_VULKAN_FMA32) != 0) shaders.push_back(spirv::translate(kernel, {.native_fma = false}));
  return code;
#else
  refuse("target", "an ashlar that was built with ASHLAR_VULKAN", "one built without it", Where{});
#endif
}

bool is_device_output(Output o) { return o == Output::spirv || o == Output::ptx || o == Output::cubin; }

std::string device_bytes(const DeviceCode& code, Output output, const Target& target) {
  if (output == Output::spirv) {
    if (code.shaders.empty()) refuse("spirv", "the target vulkan", std::string(target.text()), Where{});
    const auto& words = code.shaders[0].words;
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
  const char* what = output == Output::ptx ? "ptx" : "cubin";
  if (!code.ptx) refuse(what, "a target that is a CUDA device", std::string(target.text()), Where{});
  if (output == Output::ptx) return code.ptx->text;
  if (code.ptx->cubin.empty())
    refuse("cubin", "libnvJitLink of a CUDA toolkit that knows " + std::string(target.device().chip), "none on this machine",
           Where{});
  return code.ptx->cubin;
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

std::vector<std::string> references_beyond(const std::string& object, const std::string& name) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, name));
  if (!file) throw InternalError("codegen: " + llvm::toString(file.takeError()));
  std::vector<std::string> beyond;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto text = symbol.getName();
    if (!flags || !text) throw InternalError("codegen: an unreadable symbol in the object of " + name);
    if (!(*flags & llvm::object::BasicSymbolRef::SF_Undefined) || text->empty()) continue;
    if (std::find(references.begin(), references.end(), std::string_view(*text)) == references.end())
      beyond.push_back(text->str());
  }
  return beyond;
}

void check_references(const std::string& object, const std::string& name, const std::set<std::string>& of_users) {
  for (const std::string& symbol : references_beyond(object, name))
    if (!of_users.count(symbol))
      throw InternalError("codegen: the object of " + name + " refers to " + symbol + ", which is not in the closed list");
}

std::vector<std::string> emit(const ir::Kernel& kernel, const Target& target, std::span<const Output> outputs,
                              Seconds* seconds) {
  const double begin = cpu_seconds();
  const DeviceCode device = device_code(kernel, target);
  if (std::all_of(outputs.begin(), outputs.end(), is_device_output)) {
    if (seconds) seconds->build += cpu_seconds() - begin;
    std::vector<std::string> results;
    for (Output o : outputs) results.push_back(device_bytes(device, o, target));
    return results;
  }
  Unit unit(kernel, target);
  for (std::size_t v = 0; v < device.shaders.size(); ++v) unit.shaders[v] = &device.shaders[v];
  if (device.ptx) unit.ptx = &*device.ptx;
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
    if (is_device_output(output)) {
      results.push_back(device_bytes(device, output, target));
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
      check_references(object, unit.name, unit.users_functions);
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
