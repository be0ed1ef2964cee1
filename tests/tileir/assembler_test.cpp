// What is said where machine code cannot be made, with stand-ins for the assembler.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/refusal.h>

namespace {

using namespace ashlar;

// A variable of the environment, until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* was = std::getenv(name)) before_ = was, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (had_)
      setenv(name_, before_.c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

// A script in the place of the assembler.
struct Standin {
  explicit Standin(const std::string& script)
      : path((std::filesystem::temp_directory_path() / ("ashlar_tileiras_" + std::to_string(getpid()))).string()) {
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  ~Standin() { std::filesystem::remove(path); }
  std::string path;
};

std::string refusal(const std::string& program) {
  const Variable named("ASHLAR_TILEIRAS", program);
  try {
    codegen::tileir::cubin("bytes", "sm_90");
  } catch (const RefusalError& e) {
    const std::string text = e.what();
    const std::size_t at = text.find(program);
    return program.empty() || at == std::string::npos ? text : text.substr(0, at) + "IT" + text.substr(at + program.size());
  }
  return "";
}

}  // namespace

TEST_CASE("the assembler of a stand-in makes the cubin, of the bytes and for the chip that it was given") {
  const Standin works("test \"$1\" = --gpu-name=sm_90 && test \"$2\" = -o && (cat $4; echo made) > $3\n");
  const Variable named("ASHLAR_TILEIRAS", works.path), other("CUDA_HOME", "/elsewhere");
  CHECK(codegen::tileir::cubin("bytes", "sm_90") == "bytesmade\n");
  const Standin looks("test -z \"$CUDA_HOME\" && cp $4 $3\n");  // another toolkit is not told of
  CHECK(codegen::tileir::cubin("bytes", "sm_90") == "bytes");
}

TEST_CASE("no assembler, one that does not run, one that is too old, one that fails: one message each") {
  {
    const Variable no_path("PATH", "/nowhere");
    const char* was = std::getenv("ASHLAR_TILEIRAS");
    const std::string before = was ? was : "";
    unsetenv("ASHLAR_TILEIRAS");
    CHECK(codegen::tileir::assembler() == "");
    std::string text;
    try {
      codegen::tileir::cubin("bytes", "sm_90");
    } catch (const RefusalError& e) { text = e.what(); }
    if (was) setenv("ASHLAR_TILEIRAS", before.c_str(), 1);
    CHECK(text.find("cubin for sm_90: expected tileiras, the assembler of CUDA Tile IR (in CUDA's toolkit from 13.1 on), at "
                    "ASHLAR_TILEIRAS or on the PATH, found none") != std::string::npos);
  }
  CHECK(refusal("/nowhere/tileiras").find("expected tileiras, the assembler of CUDA Tile IR, found IT, which does not run") !=
        std::string::npos);
  const std::string help = "test \"$1\" = --help && { echo '  =sm_100  - SM 100'; exit 0; }\n";
  {
    const Standin old(help + "echo \"Cannot find option named 'sm_90'\" >&2; exit 1\n");
    CHECK(refusal(old.path).find("expected a tileiras that knows sm_90 (a later one may), found IT, which does not") !=
          std::string::npos);
  }
  const Standin fails(
      "test \"$1\" = --help && { echo '  =sm_90  - SM 90'; exit 0; }\necho; echo 'error: bad bytes' >&2; exit 5\n");
  CHECK(refusal(fails.path).find("expected bytecode that tileiras assembles, found IT, which returned 5: error: bad bytes") !=
        std::string::npos);
  const Standin silent("exit 0\n");
  CHECK(refusal(silent.path).find("expected machine code from tileiras, found IT, which wrote none") != std::string::npos);
}
