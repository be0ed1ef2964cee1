#pragma once
// PTX through the toolkit's assembler, whose every complaint is a failure: warnings, spills, stack frames.
//
//   CHECK(cuda::complaints(code.text, "sm_90a") == "");
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace cuda {

inline bool has_ptxas() { return std::string(ASHLAR_PTXAS) != ""; }

struct Assembled {
  int status = 0;
  std::string log, cubin;
};

inline Assembled assemble(const std::string& text, const std::string& chip) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("ashlar_cuda_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string stem = (folder / "kernel").string();
  std::ofstream(stem + ".ptx", std::ios::binary) << text;
  Assembled a;
  a.status =
      std::system((std::string(ASHLAR_PTXAS) + " -arch=" + chip + " -v --warn-on-spills --warn-on-local-memory-usage -o " +
                   stem + ".cubin " + stem + ".ptx > " + stem + ".log 2>&1")
                      .c_str());
  auto read = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  a.log = read(stem + ".log");
  if (a.status == 0) a.cubin = read(stem + ".cubin");
  fs::remove_all(folder);
  return a;
}

// Empty where the assembler is content.
inline std::string complaints(const std::string& text, const std::string& chip) {
  const Assembled a = assemble(text, chip);
  if (a.status != 0) return chip + ": " + a.log + "\n" + text;
  std::istringstream lines(a.log);
  std::string line, bad;
  int frames = 0;
  while (std::getline(lines, line)) {
    if (line.find("warning") != std::string::npos || line.find("Potential Performance Loss") != std::string::npos)
      bad += chip + ": " + line + "\n";
    if (line.find("bytes stack frame") == std::string::npos) continue;
    ++frames;
    if (line.find(" 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") == std::string::npos)
      bad += chip + ": " + line + "\n";
  }
  if (frames == 0) bad += chip + ": the assembler told nothing of its frames: " + a.log;
  return bad;
}

}  // namespace cuda
