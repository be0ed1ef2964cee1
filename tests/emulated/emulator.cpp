#include "tests/emulated/emulator.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/emit.h>
#include <ashlar/ir/build.h>

#include "tests/support/shell.h"

namespace emulated {

using namespace ashlar;
using codegen::ArgField;

namespace {

// What builds and runs programs for one kind of processor; empty texts where the machine lacks the tool.
struct Machine {
  const char* base;  // of the target; of several the one that its name begins with
  bool bare;
  const char *compiler, *caller, *emulator;
  const char* tools;  // for sentences
};
const Machine machines[] = {
    {"aarch64", false, ASHLAR_AARCH64_COMPILER, ASHLAR_AARCH64_CALLER, ASHLAR_AARCH64_EMULATOR,
     "aarch64-linux-gnu-gcc or qemu-aarch64"},
    {"armv7", false, ASHLAR_ARM_COMPILER, ASHLAR_ARM_CALLER, ASHLAR_ARM_EMULATOR, "arm-linux-gnueabihf-gcc or qemu-arm"},
    {"riscv64", false, ASHLAR_RISCV64_COMPILER, ASHLAR_RISCV64_CALLER, ASHLAR_RISCV64_EMULATOR,
     "riscv64-linux-gnu-gcc or qemu-riscv64"},
    {"cortex-m4", true, ASHLAR_M4_COMPILER, ASHLAR_M4_CALLER, ASHLAR_M4_EMULATOR, "arm-none-eabi-gcc or qemu-system-arm"},
    {"cortex-m7", true, ASHLAR_M7_COMPILER, ASHLAR_M7_CALLER, ASHLAR_M7_EMULATOR, "arm-none-eabi-gcc or qemu-system-arm"},
    {"cortex-m55", true, ASHLAR_M55_COMPILER, ASHLAR_M55_CALLER, ASHLAR_M55_EMULATOR, "arm-none-eabi-gcc or qemu-system-arm"},
    {"wasm32", true, ASHLAR_WASM_LINKER, ASHLAR_WASM_CALLER, ASHLAR_WASM_EMULATOR, "wasm-ld or node"},
};

const Machine* machine_of(const Target& t) {
  for (const Machine& m : machines)
    if (t.base() == m.base && (t.os() == "none") == m.bare) return &m;
  return nullptr;
}

void number(std::ofstream& out, std::int64_t n) { out.write(reinterpret_cast<const char*>(&n), sizeof n); }
void bytes(std::ofstream& out, const std::vector<std::byte>& b) {
  out.write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
}

void write_tensors(std::ofstream& in, const std::vector<Tensor>& tensors) {
  number(in, static_cast<std::int64_t>(tensors.size()));
  for (const Tensor& t : tensors) {
    const codegen::TensorType type = codegen::tensor_type(t.type);
    const std::int64_t dimensions = t.scalar ? -1 : static_cast<std::int64_t>(t.shape.size());
    for (const std::int64_t n : {std::int64_t{type.code}, std::int64_t{type.bits}, dimensions}) number(in, n);
    for (const std::int64_t n : t.shape) number(in, n);
    number(in, static_cast<std::int64_t>(t.strides.size()));
    for (const std::int64_t n : t.strides) number(in, n);
    number(in, static_cast<std::int64_t>(t.bytes.size()));
    bytes(in, t.bytes);
  }
}

// The tensors and the structure of f_run, without its pointers.
void write_arguments(std::ofstream& in, const ir::Kernel& k, const codegen::AbiLayout& layout, const std::vector<Tensor>& all) {
  std::map<ir::Id, std::int64_t> symbols;
  std::map<ir::Id, const Tensor*> scalars;
  number(in, std::count_if(all.begin(), all.end(), [](const Tensor& t) { return !t.scalar; }));
  for (std::size_t n = 0; n < all.size(); ++n) {
    const ir::Argument& a = k.arguments[n];
    if (all[n].scalar) {
      scalars[a.id] = &all[n];
      continue;
    }
    const auto& extents = k.argument_buffers.at(a.id).extents;
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (ir::op_of(extents[d]) == ir::Op::var) symbols[extents[d].node()->id] = all[n].shape[d];
    if (!all[n].strides.empty()) throw std::runtime_error("strides without an operating system in the emulator");
    number(in, static_cast<std::int64_t>(all[n].bytes.size()));
    bytes(in, all[n].bytes);
    number(in, layout.field(ArgField::Kind::pointer, a.id).offset);
  }
  std::vector<std::byte> args(static_cast<std::size_t>(layout.bytes));  // strides of zero: dense
  for (const ArgField& f : layout.fields) {
    if (f.kind == ArgField::Kind::scalar) std::copy_n(scalars.at(f.id)->bytes.begin(), f.bytes, args.begin() + f.offset);
    if (f.kind != ArgField::Kind::symbol) continue;
    if (!symbols.count(f.id)) throw std::runtime_error("a symbol of the kernel is no extent by itself");
    std::memcpy(args.data() + f.offset, &symbols.at(f.id), sizeof(std::int64_t));
  }
  number(in, layout.bytes);
  bytes(in, args);
}

}  // namespace

const char* missing(const Target& target) {
  const Machine* m = machine_of(target);
  if (!m) return "there is no emulator for it";
  static std::map<const Machine*, std::string> why;
  std::string& text = why[m];
  if (!*m->compiler || !*m->emulator) text = std::string(m->tools) + " was not found";
  return text.empty() ? nullptr : text.c_str();
}

struct Program::Linked {
  test::TemporaryFolder folder;
  const Machine* machine = nullptr;
  ir::Kernel kernel;
  codegen::AbiLayout layout;
  std::string
      command;  // after it the files of the arguments and of the results, except for boards, which have them in their folder
};

Program::Program(const ir::Kernel& k, const Target& target, int vector_bytes) {
  if (const char* why = missing(target)) throw std::runtime_error(why);
  auto linked = std::make_shared<Linked>();
  const test::TemporaryFolder& folder = linked->folder;
  const Machine& m = *(linked->machine = machine_of(target));
  linked->kernel = k;
  linked->layout = codegen::abi_layout(k, target.pointer_bytes());
  const std::string name = codegen::c_identifier(k.name);
  const std::string program = folder.file("program"), object = folder.file("kernel.o");
  std::ofstream(object, std::ios::binary) << codegen::emit(k, target, codegen::Output::object);
  if (target.architecture() == Architecture::wasm32) {
    test::shell(std::string(m.compiler) + " --no-entry --export=" + name + "_run --export=" + name +
                "_workspace_bytes --export=__heap_base -o " + program + " " + object);
    linked->command = std::string(m.emulator) + " " + m.caller + " " + program + " " + name;
  } else if (m.bare) {
    test::shell(std::string(m.compiler) + " -o " + program + " " + m.caller + " " + object +
                " -Wl,--defsym=kernel_run=" + name + "_run -Wl,--defsym=kernel_workspace_bytes=" + name + "_workspace_bytes");
    linked->command = "cd " + folder.file("") + " && timeout 300 " + m.emulator + " -kernel " + program + " #";
  } else {
    std::string cpu = m.emulator;
    if (target.architecture() == Architecture::aarch64)
      cpu += " -cpu max,sve-default-vector-length=" + std::to_string(vector_bytes);
    if (target.architecture() == Architecture::riscv64)
      cpu += " -cpu rv64,v=true,vext_spec=v1.0,Zfh=true,vlen=" + std::to_string(8 * vector_bytes);
    test::shell(std::string(m.compiler) + " -static -o " + program + " " + m.caller + " " + object +
                " -Wl,--defsym=kernel=" + name + " -Wl,--defsym=kernel_desc=" + name + "_abi1_desc -lpthread" +
                (target.architecture() == Architecture::riscv64 ? " -latomic" : ""));
    linked->command = cpu + " " + program;
  }
  linked_ = std::move(linked);
}

void Program::run(std::vector<Tensor>& tensors) const {
  const bool bare = linked_->machine->bare;
  const std::string from = linked_->folder.file("in"), to = linked_->folder.file("out");
  std::ofstream in(from, std::ios::binary);
  if (bare)
    write_arguments(in, linked_->kernel, linked_->layout, tensors);
  else
    write_tensors(in, tensors);
  in.close();
  test::shell(linked_->command + " " + from + " " + to);
  std::ifstream out(to, std::ios::binary);
  std::int64_t code = 0;
  if (bare) out.read(reinterpret_cast<char*>(&code), sizeof code);
  for (Tensor& t : tensors)
    if (!bare || !t.scalar) out.read(reinterpret_cast<char*>(t.bytes.data()), static_cast<std::streamsize>(t.bytes.size()));
  if (!out) throw std::runtime_error("the emulated program wrote less than its outputs");
  if (code != 0) throw std::runtime_error("the kernel returned " + std::to_string(code));
}

void Program::run(interp::Arguments& arguments) const {
  std::vector<Tensor> tensors;
  for (const interp::Actual& a : arguments) {
    if (a.is_scalar) {
      interp::Array one = interp::Array::zeros(a.scalar.type, {1});
      one.set(std::vector<std::int64_t>{0}, a.scalar);
      tensors.push_back({one.type, {}, one.bytes, {}, true});
      continue;
    }
    const interp::Array& array = a.array;
    const bool dense = array.strides == interp::Array::zeros(array.type, array.shape).strides;
    tensors.push_back({array.type, array.shape, array.bytes, dense ? std::vector<std::int64_t>{} : array.strides});
  }
  run(tensors);
  for (std::size_t n = 0; n < arguments.size(); ++n)
    if (!arguments[n].is_scalar) arguments[n].array.bytes = tensors[n].bytes;
}

void run(const ir::Kernel& k, const Target& target, std::vector<Tensor>& tensors, int vector_bytes) {
  Program(k, target, vector_bytes).run(tensors);
}
void run(const ir::Kernel& k, const Target& target, interp::Arguments& arguments, int vector_bytes) {
  Program(k, target, vector_bytes).run(arguments);
}

}  // namespace emulated
