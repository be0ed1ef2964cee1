#pragma once
// Kernels as C, compiled by the compilers that are here and loaded into this process.
//
//   for (const in_c::Compiler& cc : in_c::compilers()) {
//     const in_c::Compiled f = in_c::compile(kernel, target, cc);       // throws std::runtime_error: what the compiler said
//     f.call(arguments);
//   }
//
// Every compilation asks for all warnings, each an error, and for the C99 of the standard.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/runtime/desc.h>
#include <ashlar/target/target.h>

namespace in_c {

struct Compiler {
  std::string name, path;     // "gcc", "clang"
  std::string flags = "-O1";  // beside those of warnings; those of ASHLAR_TEST_C_FLAGS in the place of these, where it is set
};
std::vector<Compiler> compilers();  // those that are here; the others are named once, as skipped
std::string warnings();             // "-std=c99 -Wall ... -Werror"
void compile_text(const std::string& text, const Compiler&, const std::string& flags);  // only whether it compiles

class Compiled {
 public:
  // As codegen::Compiled.
  int call(std::span<const void* const> arguments, const ashlar_context* context = nullptr) const;
  int run(const void* args, const ashlar_context* context) const;
  std::size_t workspace_bytes(const void* args, const ashlar_context* context) const;
  const ashlar_abi1_desc& descriptor() const;
  const std::string& text() const;          // the file
  void* address(const char* symbol) const;  // null: there is none

 private:
  struct Code;
  friend Compiled compile(const ashlar::ir::Kernel&, const ashlar::Target&, const Compiler&);
  std::shared_ptr<const Code> code_;
};

Compiled compile(const ashlar::ir::Kernel&, const ashlar::Target&, const Compiler&);

}  // namespace in_c
