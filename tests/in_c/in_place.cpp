// codegen::compile, through C: a test that is linked with this file in the place of LLVM's runs what it compiles as C, made by
// gcc and clang in turn. What the tests ask of LLVM alone (its texts, its refusals) they are told to leave out
// (tests/in_c/CMakeLists.txt).
#include <map>

#include <ashlar/codegen/c.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/refusal.h>

#include "tests/emulated/emulator.h"
#include "tests/in_c/c_compiled.h"

namespace ashlar::codegen {

struct Compiled::Code {
  in_c::Compiled f;
};

Compiled compile(const ir::Kernel& kernel, const Target& target, Seconds*) {
  static std::size_t turn = 0;
  static std::map<std::string, std::shared_ptr<Compiled::Code>> compiled;  // targets of one width have one text
  const auto all = in_c::compilers();
  if (all.empty()) throw InternalError("no compiler of C is here");
  auto& code = compiled[c::source(kernel, target)];
  if (!code) code = std::make_shared<Compiled::Code>(Compiled::Code{in_c::compile(kernel, target, all[turn++ % all.size()])});
  return Compiled(code);
}

// What was emitted by LLVM is left aside.
void require_loadable(const Target&) {}
Compiled load(const std::string&, const ir::Kernel& kernel, const Target& target) { return compile(kernel, target, nullptr); }

int Compiled::call(std::span<const void* const> arguments, const ashlar_context* context) const {
  if (arguments.size() != static_cast<std::size_t>(descriptor().argument_count))
    refuse("call", std::to_string(descriptor().argument_count) + " arguments", std::to_string(arguments.size()), Where{});
  return code_->f.call(arguments, context);
}
int Compiled::run(const void* args, const ashlar_context* context) const { return code_->f.run(args, context); }
std::size_t Compiled::workspace_bytes(const void* args, const ashlar_context* context) const {
  return code_->f.workspace_bytes(args, context);
}
const ashlar_abi1_desc& Compiled::descriptor() const { return code_->f.descriptor(); }
void* Compiled::address(const char* symbol) const { return code_->f.address(symbol); }

}  // namespace ashlar::codegen

namespace emulated {  // C is C wherever it runs

const char* missing(const ashlar::Target&) { return "kernels go through C here"; }
void run(const ashlar::ir::Kernel&, const ashlar::Target&, std::vector<Tensor>&, int) {
  throw ashlar::InternalError("no emulator");
}
void run(const ashlar::ir::Kernel&, const ashlar::Target&, ashlar::interp::Arguments&, int) {
  throw ashlar::InternalError("no emulator");
}

}  // namespace emulated
