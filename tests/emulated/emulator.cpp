#include "tests/emulated/emulator.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/emit.h>

namespace emulated {

using namespace ashlar;
namespace fs = std::filesystem;

namespace {

struct Folder {  // gone when the kernel has run
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "ashlar_emulated_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

void shell(const std::string& command) {
  std::string said;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("no shell");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  if (const int status = pclose(pipe); status != 0)
    throw std::runtime_error(command + ": " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + "\n" + said);
}

void number(std::ofstream& out, std::int64_t n) { out.write(reinterpret_cast<const char*>(&n), sizeof n); }

}  // namespace

const char* missing(const Target& target) {
  if (target.architecture() != Architecture::aarch64) return "there is an emulator of AArch64 alone";
  static const bool tools = *ASHLAR_AARCH64_COMPILER && *ASHLAR_AARCH64_EMULATOR;
  return tools ? nullptr : "aarch64-linux-gnu-gcc or qemu-aarch64 was not found";
}

void run(const ir::Kernel& k, const Target& target, std::vector<Tensor>& tensors, int vector_bytes) {
  if (const char* why = missing(target)) throw std::runtime_error(why);
  const Folder folder;
  const auto file = [&](const char* name) { return (folder.path / name).string(); };
  std::ofstream(file("kernel.o"), std::ios::binary) << codegen::emit(k, target, codegen::Output::object);
  std::ofstream in(file("in"), std::ios::binary);
  number(in, static_cast<std::int64_t>(tensors.size()));
  for (const Tensor& t : tensors) {
    const codegen::TensorType type = codegen::tensor_type(t.type);
    for (const std::int64_t n : {std::int64_t{type.code}, std::int64_t{type.bits}, static_cast<std::int64_t>(t.shape.size())})
      number(in, n);
    for (const std::int64_t n : t.shape) number(in, n);
    number(in, static_cast<std::int64_t>(t.bytes.size()));
    in.write(reinterpret_cast<const char*>(t.bytes.data()), static_cast<std::streamsize>(t.bytes.size()));
  }
  in.close();
  shell(std::string(ASHLAR_AARCH64_COMPILER) + " -static -o " + file("program") + " " + ASHLAR_AARCH64_CALLER + " " +
        file("kernel.o") + " -Wl,--defsym=kernel=" + k.name + " -lpthread");
  shell(std::string(ASHLAR_AARCH64_EMULATOR) + " -cpu max,sve-default-vector-length=" + std::to_string(vector_bytes) + " " +
        file("program") + " " + file("in") + " " + file("out"));
  std::ifstream out(file("out"), std::ios::binary);
  for (Tensor& t : tensors) out.read(reinterpret_cast<char*>(t.bytes.data()), static_cast<std::streamsize>(t.bytes.size()));
  if (!out) throw std::runtime_error("the emulated program wrote less than its outputs");
}

void run(const ir::Kernel& k, const Target& target, interp::Arguments& arguments, int vector_bytes) {
  std::vector<Tensor> tensors;
  for (const interp::Actual& a : arguments) {
    if (a.is_scalar) throw std::runtime_error("a scalar argument in the emulator");
    tensors.push_back({a.array.type, a.array.shape, a.array.bytes});
  }
  run(k, target, tensors, vector_bytes);
  for (std::size_t n = 0; n < arguments.size(); ++n) arguments[n].array.bytes = tensors[n].bytes;
}

}  // namespace emulated
