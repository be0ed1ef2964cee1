#include "bench/isa.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace bench {

const char* isa() { return BENCH_ISA; }
const char* target_name() { return BENCH_TARGET; }

void become(const std::string& wanted, char** argv) {
  // Libraries read these when they are loaded, which is over here; so the program starts anew.
  constexpr std::pair<const char*, const char*> limits[] = {
      {"OPENBLAS_CORETYPE", "Haswell"}, {"DNNL_MAX_CPU_ISA", "AVX2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}};
  bool limited = true;
  for (const auto& [name, value] : limits) {
    const char* is = std::getenv(name);
    limited = limited && is && std::strcmp(is, value) == 0;
  }
  if (wanted == isa() && (wanted == "native" || limited)) return;
  for (const auto& [name, value] : limits)
    if (wanted == "avx2" ? setenv(name, value, 1) : unsetenv(name))
      throw std::runtime_error("the environment cannot be changed");
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe"),
                              program = self.parent_path() / (wanted == "avx2" ? "ashlar_bench_avx2" : "ashlar_bench");
  execv(program.c_str(), argv);
  throw std::runtime_error("--isa " + wanted + ": " + program.string() + " cannot be started: " + std::strerror(errno));
}

}  // namespace bench
