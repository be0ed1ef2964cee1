// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assembler of CUDA Tile IR, `tileiras`: a program of NVIDIA's toolkit that makes machine code of a file of bytecode.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::tileir {

namespace {

namespace fs = std::filesystem;

// A folder of its own, until the end of the scope.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "ashlar_tile_XXXXXX").string();
    if (!mkdtemp(name.data())) throw InternalError("no folder can be made in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;  // what is left of it harms nobody
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Runs a program, with what it says in a file. The exit code; 127 where it cannot be started.
int run(const std::vector<std::string>& words, const fs::path& said) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  // These may name another toolkit, whose parts it would take instead of those beside it.
  std::vector<char*> environment;
  for (char** e = environ; *e; ++e)
    if (std::strncmp(*e, "CUDA_HOME=", 10) != 0 && std::strncmp(*e, "CUDA_PATH=", 10) != 0) environment.push_back(*e);
  environment.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string first_line(const std::string& s) {
  const std::size_t begin = s.find_first_not_of(" \n");
  return begin == std::string::npos ? "nothing" : s.substr(begin, s.find('\n', begin) - begin);
}

}  // namespace

std::string assembler() {
  if (const char* named = std::getenv("ASHLAR_TILEIRAS")) return named;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / "tileiras"; !folder.empty() && access(file.c_str(), X_OK) == 0)
      return file.string();
  return "";
}

std::string cubin(const std::string& code, std::string_view chip, Where where) {
  const std::string program = assembler(), what = "cubin for " + std::string(chip);
  if (program.empty())
    refuse(what, "tileiras, the assembler of CUDA Tile IR (in CUDA's toolkit from 13.1 on), at ASHLAR_TILEIRAS or on the PATH",
           "none", where);
  const Folder folder;
  const fs::path input = folder / "kernel.tileirbc", output = folder / "kernel.cubin", said = folder / "said";
  if (!(std::ofstream(input, std::ios::binary) << code << std::flush))
    throw InternalError("the bytecode cannot be written to " + input.string());
  const int result = run({program, "--gpu-name=" + std::string(chip), "-o", output.string(), input.string()}, said);
  if (result == 127) refuse(what, "tileiras, the assembler of CUDA Tile IR", program + ", which does not run", where);
  if (result == 0) {
    std::string made = read(output);
    if (made.empty()) refuse(what, "machine code from tileiras", program + ", which wrote none", where);
    return made;
  }
  const std::string error = first_line(read(said));
  if (run({program, "--help"}, said) == 0 && read(said).find("=" + std::string(chip) + " ") == std::string::npos)
    refuse(what, "a tileiras that knows " + std::string(chip) + " (a later one may)", program + ", which does not", where);
  refuse(what, "bytecode that tileiras assembles", program + ", which returned " + std::to_string(result) + ": " + error,
         where);
}

}  // namespace ashlar::codegen::tileir
