// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code for a CUDA device in this process, by libnvJitLink of the CUDA toolkit, which is opened when it is first needed.
// Its C interface (nvJitLink.h, "Linking"): a handle, options as strings, inputs, the result's size and bytes; 0 is success.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include <ashlar/codegen/ptx.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::ptx {

namespace {

struct Linker {
  using Handle = void*;
  int (*create)(Handle*, std::uint32_t count, const char** options) = nullptr;
  int (*destroy)(Handle*) = nullptr;
  int (*add)(Handle, int kind, const void* data, std::size_t bytes, const char* name) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*size)(Handle, std::size_t*) = nullptr;
  int (*take)(Handle, void*) = nullptr;
  int (*log_size)(Handle, std::size_t*) = nullptr;
  int (*log)(Handle, char*) = nullptr;
  bool usable = false;
};
constexpr int kPtx = 2;

Linker open_linker() {
  Linker l;
  const char* wanted = std::getenv("ASHLAR_NVJITLINK");
  void* library = nullptr;
  if (wanted) {
    if (*wanted) library = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char* name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return l;
  auto find = [&](auto& function, const char* name) {
    *reinterpret_cast<void**>(&function) = dlsym(library, name);
    return function != nullptr;
  };
  l.usable = find(l.create, "nvJitLinkCreate") && find(l.destroy, "nvJitLinkDestroy") && find(l.add, "nvJitLinkAddData") &&
             find(l.complete, "nvJitLinkComplete") && find(l.size, "nvJitLinkGetLinkedCubinSize") &&
             find(l.take, "nvJitLinkGetLinkedCubin") && find(l.log_size, "nvJitLinkGetErrorLogSize") &&
             find(l.log, "nvJitLinkGetErrorLog");
  return l;
}
const Linker& the_linker() {
  static const Linker linker = open_linker();
  return linker;
}
std::mutex one_at_a_time;

// The library answers names of chips that it does not know with an error, except for some (sm_1) it ends the process. So it is
// asked for those of the table of targets alone, which is all that a user can name: Target::parse refuses cuda-sm_1.
bool of_a_target(std::string_view chip) {
  const std::vector<Device>& all = Target::devices();
  return std::any_of(all.begin(), all.end(), [&](const Device& d) { return d.kind == Device::Kind::cuda && chip == d.chip; });
}

// Null where there is no library, or one that does not know the chip: then the driver assembles the text.
Linker::Handle open_for(std::string_view chip, bool lines = false) {
  if (!of_a_target(chip)) return nullptr;
  const Linker& linker = the_linker();
  const std::string arch = "-arch=" + std::string(chip);
  const char* options[] = {arch.c_str(), "-lineinfo"};
  Linker::Handle h = nullptr;
  return linker.usable && linker.create(&h, lines ? 2 : 1, options) == 0 ? h : nullptr;
}

}  // namespace

bool assembles(std::string_view chip) {
  const std::lock_guard lock(one_at_a_time);
  Linker::Handle h = open_for(chip);
  if (!h) return false;
  the_linker().destroy(&h);
  return true;
}

std::string linker_version(std::string_view chip) {
  if (!assembles(chip)) return {};
  Dl_info info = {};
  struct stat facts = {};
  const auto address = reinterpret_cast<const void*>(the_linker().create);
  if (dladdr(address, &info) == 0 || stat(info.dli_fname, &facts) != 0)
    throw InternalError("codegen: the file of nvJitLink is not found");
  return std::string(info.dli_fname) + ' ' + std::to_string(facts.st_size) + ' ' + std::to_string(facts.st_mtim.tv_sec) + '.' +
         std::to_string(facts.st_mtim.tv_nsec);
}

std::optional<std::string> cubin(const std::string& text, std::string_view chip, bool lines) {
  const std::lock_guard lock(one_at_a_time);
  const Linker& linker = the_linker();
  Linker::Handle h = open_for(chip, lines);
  if (!h) return std::nullopt;
  std::string bytes;
  std::size_t size = 0;
  int rc = linker.add(h, kPtx, text.c_str(), text.size() + 1, "ashlar");
  if (rc == 0) rc = linker.complete(h);
  if (rc == 0) rc = linker.size(h, &size);
  if (rc == 0) {
    bytes.resize(size);
    rc = linker.take(h, bytes.data());
  }
  if (rc != 0) {
    if (linker.log_size(h, &size) == 0 && size > 0) {
      bytes.assign(size, '\0');
      if (linker.log(h, bytes.data()) != 0) bytes.clear();
    }
    linker.destroy(&h);
    throw InternalError("codegen: nvJitLink for " + std::string(chip) + " (" + std::to_string(rc) + "): " + bytes);
  }
  linker.destroy(&h);
  return bytes;
}

}  // namespace ashlar::codegen::ptx
