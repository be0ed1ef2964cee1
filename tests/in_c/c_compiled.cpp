#include "tests/in_c/c_compiled.h"

#include <dlfcn.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/c.h>
#include <ashlar/ir/function.h>

#include "tests/support/shell.h"

namespace in_c {

using namespace ashlar;

namespace {

// The runtime's entry, and the functions in C of this process that a file declares: jumped to.
std::string jumps(const std::string& text) {
  std::string out;
  std::set<std::string> seen;
  const auto jump = [&](const std::string& symbol, void* address) {
    char line[400];
    std::snprintf(line, sizeof line, "__asm__(\".text\\n.globl %s\\n%s: movabsq $%p, %%rax\\n jmp *%%rax\\n\");\n",
                  symbol.c_str(), symbol.c_str(), address);
    out += line;
  };
  jump("ashlar_abi1_call", reinterpret_cast<void*>(&ashlar_abi1_call));
  for (std::size_t at = 0; (at = text.find("\nextern ", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find('(', at);
    std::size_t from = end;
    while (from > at && (std::isalnum(static_cast<unsigned char>(text[from - 1])) || text[from - 1] == '_')) --from;
    const std::string symbol = text.substr(from, end - from);
    const ir::Function* f = ir::function_of(symbol);
    void* address = f && f->region ? reinterpret_cast<void*>(f->compute) : f ? reinterpret_cast<void*>(f->address) : nullptr;
    if (address && seen.insert(symbol).second) jump(symbol, address);
  }
  return out;
}

}  // namespace

struct Compiled::Code {
  // Stays while the library is loaded: dlopen knows a file by its inode, and would take a new one with that of a deleted one
  // for what is loaded.
  test::TemporaryFolder folder;
  void* library = nullptr;
  std::string text;
  const ashlar_abi1_desc* descriptor = nullptr;
  int (*run)(const void*, const ashlar_context*) = nullptr;
  std::size_t (*workspace_bytes)(const void*, const ashlar_context*) = nullptr;
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    if (library) dlclose(library);
  }
};

std::string warnings() { return "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror"; }

std::vector<Compiler> compilers() {
  static const std::vector<Compiler> here = [] {
    std::vector<Compiler> all;
    for (const auto& [name, path] : {std::pair<const char*, const char*>{"gcc", ASHLAR_GCC}, {"clang", ASHLAR_CLANG}}) {
      if (*path) {
        all.push_back({name, path});
        if (const char* flags = std::getenv("ASHLAR_TEST_C_FLAGS")) all.back().flags = flags;
      } else {
        std::printf("skipped: C through %s, which was not found\n", name);
      }
    }
    return all;
  }();
  return here;
}

void compile_text(const std::string& text, const Compiler& cc, const std::string& flags) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("kernel.c");
  std::ofstream(file) << text;
  test::shell(cc.path + " " + warnings() + " " + flags + " -I" ASHLAR_INCLUDE " -c -o " + folder.file("kernel.o") + " " + file);
}

Compiled compile(const ir::Kernel& kernel, const Target& target, const Compiler& cc) {
  const std::string name = codegen::c_identifier(kernel.name);
  auto code = std::make_shared<Compiled::Code>();
  code->text = codegen::c::source(kernel, target);
  const std::string file = code->folder.file("kernel.c"), library = code->folder.file("kernel.so");
  std::ofstream(file) << code->text << "\nconst ashlar_abi1_desc *ashlar_test_descriptor(void);\n"
                      << "const ashlar_abi1_desc *ashlar_test_descriptor(void) { return &" << name << "_abi1_desc; }\n"
                      << jumps(code->text);
  // This process has the C library and libm: without them the linker takes a third of the time.
  test::shell(cc.path + " " + warnings() + " " + cc.flags + " -fPIC -shared -nostdlib -I" ASHLAR_INCLUDE " -o " + library +
              " " + file + " -lgcc");
  code->library = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!code->library) throw std::runtime_error(dlerror());
  const auto find = [&](const std::string& symbol) {
    void* at = dlsym(code->library, symbol.c_str());
    if (!at) throw std::runtime_error("no symbol " + symbol);
    return at;
  };
  code->descriptor = reinterpret_cast<const ashlar_abi1_desc* (*)()>(find("ashlar_test_descriptor"))();
  code->run = reinterpret_cast<int (*)(const void*, const ashlar_context*)>(find(name + "_run"));
  code->workspace_bytes =
      reinterpret_cast<std::size_t (*)(const void*, const ashlar_context*)>(find(name + "_workspace_bytes"));
  Compiled c;
  c.code_ = std::move(code);
  return c;
}

int Compiled::call(std::span<const void* const> arguments, const ashlar_context* context) const {
  return ashlar_abi1_call(code_->descriptor, arguments.data(), context);
}
int Compiled::run(const void* args, const ashlar_context* context) const { return code_->run(args, context); }
std::size_t Compiled::workspace_bytes(const void* args, const ashlar_context* context) const {
  return code_->workspace_bytes(args, context);
}
const ashlar_abi1_desc& Compiled::descriptor() const { return *code_->descriptor; }
void* Compiled::address(const char* symbol) const { return dlsym(code_->library, symbol); }
const std::string& Compiled::text() const { return code_->text; }

}  // namespace in_c
