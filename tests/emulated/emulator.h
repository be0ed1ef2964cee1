#pragma once
// Kernels of processors that this machine is not, run in an emulator. With an operating system (AArch64, ARMv7, RISC-V): linked
// with the runtime, which a cross compiler made of the same sources, and a program that calls them by their entry on tensors.
// Without (Cortex-M, WebAssembly): with a program that calls f_run.
//
//   if (const char* why = emulated::missing(target)) skip...
//   emulated::run(kernel, target, arguments);           // throws std::runtime_error: what the tools said
#include <memory>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace emulated {

// Of what nothing here compiles or runs for the target: why; else null.
const char* missing(const ashlar::Target&);

struct Tensor {
  ashlar::Type type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> strides = {};  // in elements; none: dense
  bool scalar = false;                     // `bytes` hold the value of a Scalar
};

// A kernel that is compiled and linked once, and called any number of times. It has 24 arguments at most; the memory of
// tensors comes back as the kernel left it. Without an operating system extents of the kernel's are numbers or its symbols
// themselves, and tensors dense.
// `vector_bytes`: of SVE's and RISC-V's registers, 16 to 256.
class Program {
 public:
  Program(const ashlar::ir::Kernel&, const ashlar::Target&, int vector_bytes = 32);
  void run(std::vector<Tensor>&) const;
  void run(ashlar::interp::Arguments&) const;  // those that are outputs change

 private:
  struct Linked;
  std::shared_ptr<const Linked> linked_;
};

void run(const ashlar::ir::Kernel&, const ashlar::Target&, std::vector<Tensor>&, int vector_bytes = 32);
void run(const ashlar::ir::Kernel&, const ashlar::Target&, ashlar::interp::Arguments&, int vector_bytes = 32);

}  // namespace emulated
