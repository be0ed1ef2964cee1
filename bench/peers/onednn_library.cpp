#include "bench/peers/onednn_library.h"

#include <dlfcn.h>
#include <omp.h>

#include <cstdlib>
#include <stdexcept>

namespace bench {
namespace {

const char* library_name() {
  const char* name = std::getenv("ASHLAR_BENCH_ONEDNN");
  return name && *name ? name : nullptr;
}

// Its own oneDNN comes before the one that the bench is linked with, which has functions of the same names.
const Onednn* loaded() {
  void* const handle = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) throw std::runtime_error(std::string("ASHLAR_BENCH_ONEDNN: ") + dlerror());
  const auto functions = reinterpret_cast<const Onednn* (*)()>(dlsym(handle, "bench_onednn"));
  if (!functions) throw std::runtime_error("ASHLAR_BENCH_ONEDNN has no bench_onednn");
  return functions();
}

}  // namespace

const std::vector<OnednnVersion>& onednns() {
  static const std::vector<OnednnVersion> all = [] {
    std::vector<OnednnVersion> found{{"onednn", bench_onednn()}};
    if (library_name()) {
      const Onednn* other = loaded();
      found.push_back({std::string("onednn ") + other->version, other});
    }
    return found;
  }();
  return all;
}

std::string onednn_missing() {
  return library_name() ? ""
                        : "newer oneDNN: skipped, ASHLAR_BENCH_ONEDNN names no library (./dev bench makes it where the wheels "
                          "can be had)";
}

void onednn_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace bench
