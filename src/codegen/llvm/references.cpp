// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an object may leave undefined, by target, and the archive around it.
#include <algorithm>

#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/TargetParser/Triple.h>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/object_file.h"

namespace ashlar::codegen {

namespace {

// The entry of the runtime, those of a device in kernels for it, and the three functions of memory that any C compiler may
// call.
constexpr std::string_view everywhere[] = {"ashlar_abi1_call",
                                           "ashlar_abi1_cuda_begin",
                                           "ashlar_abi1_cuda_end",
                                           "ashlar_abi1_cuda_run",
                                           "ashlar_abi1_cuda_settle",
                                           "ashlar_abi1_library_call",
                                           "ashlar_abi1_library_prepare",
                                           "ashlar_abi1_library_run",
                                           "ashlar_abi1_library_workspace_bytes",
                                           "ashlar_abi1_prepare",
                                           "ashlar_abi1_profile_enter",
                                           "ashlar_abi1_profile_leave",
                                           "ashlar_abi1_vulkan_begin",
                                           "ashlar_abi1_vulkan_end",
                                           "ashlar_abi1_vulkan_run",
                                           "ashlar_abi1_vulkan_settle",
                                           "memcpy",
                                           "memmove",
                                           "memset"};

// Of the Run-time ABI for the Arm Architecture (IHI 0043), which libgcc and compiler-rt hold: what 32-bit processors have no
// instructions for. Memory; integers of 64 bits, and division without an instruction.
constexpr std::string_view of_arm[] = {
    "__aeabi_memcpy", "__aeabi_memcpy4", "__aeabi_memcpy8",  "__aeabi_memmove", "__aeabi_memmove4", "__aeabi_memmove8",
    "__aeabi_memset", "__aeabi_memset4", "__aeabi_memset8",  "__aeabi_memclr",  "__aeabi_memclr4",  "__aeabi_memclr8",
    "__aeabi_lmul",   "__aeabi_ldivmod", "__aeabi_uldivmod", "__aeabi_llsl",    "__aeabi_llsr",     "__aeabi_lasr",
    "__aeabi_idiv",   "__aeabi_uidiv",   "__aeabi_idivmod",  "__aeabi_uidivmod"};
// A float of 64-bit integers, or the other way round, has no instruction on any of them.
constexpr std::string_view of_arm_floats[] = {"__aeabi_l2f", "__aeabi_ul2f", "__aeabi_f2lz", "__aeabi_f2ulz",
                                              "__aeabi_l2d", "__aeabi_ul2d", "__aeabi_d2lz", "__aeabi_d2ulz"};
constexpr std::string_view of_windows[] = {"_fltused", "__chkstk"};  // the C library's: floats are used; pages of a large stack
constexpr std::string_view of_mingw[] = {"___chkstk_ms"};            // the compiler's library: pages of a large stack
constexpr std::string_view of_wasm[] = {"__stack_pointer", "__linear_memory", "__indirect_function_table"};  // the linker's

}  // namespace

std::vector<std::string_view> allowed_references(const Target& t) {
  std::vector<std::string_view> all(std::begin(everywhere), std::end(everywhere));
  auto add = [&](const auto& more) { all.insert(all.end(), std::begin(more), std::end(more)); };
  if (t.architecture() == Architecture::arm || t.architecture() == Architecture::thumb) {
    add(of_arm);
    add(of_arm_floats);
  }
  if (t.architecture() == Architecture::wasm32) add(of_wasm);
  if (t.os() == "windows") add(of_windows);
  if (t.os() == "mingw") add(of_mingw);
  return all;
}

std::string archive(const std::string& object, const std::string& member, const Target& target) {
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(object, member));
  const llvm::Triple triple{std::string(target.triple())};
  using Archive = llvm::object::Archive;
  const auto kind = triple.isOSBinFormatMachO()  ? Archive::K_DARWIN
                    : triple.isOSBinFormatCOFF() ? Archive::K_COFF
                                                 : Archive::K_GNU;
  auto buffer = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab, kind,
                                           /*Deterministic=*/true, /*Thin=*/false);
  if (!buffer) throw InternalError("codegen: " + llvm::toString(buffer.takeError()));
  return (*buffer)->getBuffer().str();
}

ObjectFacts read_object(const std::string& object, const std::string& name) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, name));
  if (!file) throw InternalError("codegen: " + llvm::toString(file.takeError()));
  const bool prefixed = (*file)->isMachO();  // symbols of C begin with an underscore there
  ObjectFacts facts;
  facts.format = (*file)->getFileFormatName().str();
  using Symbol = llvm::object::BasicSymbolRef;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto text = symbol.getName();
    if (!flags || !text) throw InternalError("codegen: an unreadable symbol in the object of " + name);
    if (text->empty()) continue;
    const std::string of_c = prefixed && text->starts_with("_") ? text->drop_front().str() : text->str();
    if (*flags & Symbol::SF_Undefined)
      facts.undefined.push_back(of_c);
    else if ((*flags & Symbol::SF_Global) && !(*flags & Symbol::SF_Hidden))
      facts.defined.push_back(of_c);
  }
  return facts;
}

std::vector<std::string> references_beyond(const std::string& object, const std::string& name, const Target& target) {
  const std::vector<std::string_view> allowed = allowed_references(target);
  std::vector<std::string> beyond;
  for (const std::string& symbol : read_object(object, name).undefined)
    if (std::find(allowed.begin(), allowed.end(), std::string_view(symbol)) == allowed.end()) beyond.push_back(symbol);
  return beyond;
}

void check_references(const std::string& object, const std::string& name, const Target& target,
                      const std::set<std::string>& of_users) {
  for (const std::string& symbol : references_beyond(object, name, target))
    if (!of_users.count(symbol))
      throw InternalError("codegen: the object of " + name + " refers to " + symbol + ", which is not in the closed list");
}

}  // namespace ashlar::codegen
