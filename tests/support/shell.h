#pragma once
// For tests that call other programs: a folder of their own, and a command, which returns what it said; failure is an error.
//
//   const test::TemporaryFolder folder;
//   test::shell("cc -c -o " + folder.file("kernel.o") + " " + folder.file("kernel.c"));
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace test {

class TemporaryFolder {  // gone with all that is in it
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ashlar_test_").string() + std::string(6, 'X');  // of mkdtemp
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// What it said, errors too. std::runtime_error where the command fails: the command, its exit status (-1: a signal), and what
// it said.
inline std::string shell(const std::string& command) {
  std::string said;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("no shell");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  if (const int status = pclose(pipe); status != 0)
    throw std::runtime_error(command + ": " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + "\n" +
                             said.substr(0, 4000));
  return said;
}

}  // namespace test
