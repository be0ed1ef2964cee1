#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "bench/peers/memory.h"

namespace bench {
namespace {

const char* library_name() {
  const char* name = std::getenv("ASHLAR_BENCH_HALIDE");
  return name && *name ? name : nullptr;
}

void* library() {
  static void* const handle = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(std::string("ASHLAR_BENCH_HALIDE: ") + dlerror());
  return handle;
}

template <class... Arguments>
Prepared pipeline(const char* name, Arguments... arguments) {
  if (!library_name()) return {};
  using Function = int (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(dlsym(library(), name));
  if (!function) throw std::runtime_error(std::string("ASHLAR_BENCH_HALIDE has no ") + name);
  return {[=] {
            if (const int code = function(arguments...))
              throw std::runtime_error(std::string(name) + ": Halide's error " + std::to_string(code));
          },
          "ahead of time"};
}

}  // namespace

std::string halide_missing() {
  return library_name()
             ? ""
             : "halide: skipped, ASHLAR_BENCH_HALIDE names no library (./dev bench makes it where the wheel can be had)";
}
std::string halide_about() {
  if (!library_name()) return "none";
  const auto about = reinterpret_cast<const char* (*)()>(dlsym(library(), "peer_about"));
  return about ? about() : "unknown";
}
void halide_threads(int n) {
  if (!library_name()) return;
  if (const auto function = reinterpret_cast<void (*)(int)>(dlsym(library(), "peer_threads"))) function(n);
}
Prepared halide_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return pipeline("peer_softmax", x, y, rows, columns);
}
Prepared halide_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                           std::int64_t columns) {
  return pipeline("peer_layer_norm", x, scale, shift, y, rows, columns);
}
Prepared halide_gelu(const float* x, float* y, std::int64_t n) { return pipeline("peer_gelu", x, y, n); }
Prepared halide_sum(const float* x, float* y, std::int64_t n) { return pipeline("peer_sum", x, y, n); }
Prepared halide_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return pipeline("peer_transpose", x, y, rows, columns);
}
Prepared halide_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  return pipeline("peer_depthwise", x, w, y, channels, height, width);
}
Prepared halide_box_blur(const std::uint16_t* x, std::uint16_t* y, std::int64_t height, std::int64_t width) {
  return pipeline("peer_box_blur", x, y, height, width);
}
Prepared halide_unsharp(const float* x, float* y, std::int64_t height, std::int64_t width) {
  return pipeline("peer_unsharp", x, y, height, width);
}

}  // namespace bench
