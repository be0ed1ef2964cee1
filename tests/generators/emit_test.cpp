// Every operator of ashlar-ops can be written for the targets that there are: as C, as an object for x86-64-v3, for AArch64;
// for devices those that have launches there.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "generator/tool.h"
#include "tests/generators/sample.h"

using namespace op_tests;
namespace fs = std::filesystem;

namespace {

struct Folder {  // a fresh one, removed at the end
  Folder() : path(fs::temp_directory_path() / ("ashlar.ops." + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

void emit(const std::string& name, const std::string& kind, const std::string& extension, const std::string& target) {
  CAPTURE(name);
  CAPTURE(target);
  const Folder folder;
  const std::string function = "op_" + name;  // exp is a function of the C library
  const auto r = ashlar::generator::run_tool(
      std::vector<std::string>{"-g", name, "-f", function, "-o", folder.path.string(), "-e", kind + ",header", "-t", target});
  CHECK(r.err == "");
  CHECK(r.code == 0);
  for (const std::string& file : {function + extension, function + ".h"}) {
    CAPTURE(file);
    CHECK((fs::exists(folder.path / file) && fs::file_size(folder.path / file) > 0));
  }
}

}  // namespace

TEST_CASE("every operator is written as C, with its header") {
  for (const std::string& name : op_names()) emit(name, "c", ".c", "x86-64-v3");
  for (const char* name : {"matmul", "conv2d", "attention", "softmax"}) emit(name, "c", ".c", "aarch64");
}

// Code for the device is made of a sample; who is refused is the matter of the schedule alone.
TEST_CASE("on a device an operator has launches, or is refused by the parameter that could give it some") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    std::vector<std::string> refused;
    [[maybe_unused]] std::size_t number = 0;
    for (const std::string& name : op_names()) {
      CAPTURE(target);
      CAPTURE(name);
      const Folder folder;
      std::vector<std::string> line{"-g", name,   "-f", "op_" + name,
                                    "-t", target, "-e", "program=" + (folder.path / "program").string()};
#ifdef ASHLAR_TEST_LLVM
      if (sampled(number++, 12)) line.insert(line.end(), {"-e", "object=" + (folder.path / "object").string()});
#endif
      const auto r = ashlar::generator::run_tool(line);
      CAPTURE(r.err);
      if (r.code == 0) continue;
      refused.push_back(name);
      CHECK(r.code == 1);
      CHECK(r.err.find(std::string(": parameter schedule=default: expected a schedule that has launches on ") + target +
                       " for all stages, found no launches (") != std::string::npos);
    }
    // What a step computes inside of these recurrences is as large as a Symbol says, and no thread has such memory.
    CHECK(refused == std::vector<std::string>{"gru", "lstm"});
  }
  const auto r = ashlar::generator::run_tool(
      std::vector<std::string>{"-g", "relu", "schedule=none", "-f", "op_relu", "-e", "program=nothing", "-t", "vulkan"});
  CHECK(r.code == 1);
  CHECK(r.err.find(": parameter schedule=none: expected a schedule that has launches on vulkan for all stages, found none ("
                   "bind its loops") != std::string::npos);
}

#ifdef ASHLAR_TEST_LLVM
TEST_CASE("operators are written as objects for x86-64-v3 and AArch64") {
  for (const std::string& name : sampled_ops(12)) emit(name, "object", ".o", "x86-64-v3");
  for (const std::string& name : sampled_ops(12, 5)) emit(name, "object", ".o", "aarch64");
}
#endif
