#include "tests/emulated/emulator.h"

#include <fstream>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/emit.h>

#include "tests/support/shell.h"

namespace emulated {

using namespace ashlar;

namespace {

void number(std::ofstream& out, std::int64_t n) { out.write(reinterpret_cast<const char*>(&n), sizeof n); }

}  // namespace

const char* missing(const Target& target) {
  if (target.architecture() != Architecture::aarch64) return "there is an emulator of AArch64 alone";
  static const bool tools = *ASHLAR_AARCH64_COMPILER && *ASHLAR_AARCH64_EMULATOR;
  return tools ? nullptr : "aarch64-linux-gnu-gcc or qemu-aarch64 was not found";
}

void run(const ir::Kernel& k, const Target& target, std::vector<Tensor>& tensors, int vector_bytes) {
  if (const char* why = missing(target)) throw std::runtime_error(why);
  const test::TemporaryFolder folder;
  const auto file = [&](const char* name) { return folder.file(name); };
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
  test::shell(std::string(ASHLAR_AARCH64_COMPILER) + " -static -o " + file("program") + " " + ASHLAR_AARCH64_CALLER + " " +
              file("kernel.o") + " -Wl,--defsym=kernel=" + k.name + " -lpthread");
  test::shell(std::string(ASHLAR_AARCH64_EMULATOR) + " -cpu max,sve-default-vector-length=" + std::to_string(vector_bytes) +
              " " + file("program") + " " + file("in") + " " + file("out"));
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
