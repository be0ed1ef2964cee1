// Times on the device beside cuBLAS, in one process on the same random data; cuBLAS is opened where it is installed.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <stdexcept>

#include <ashlar/ir/numeric.h>

#include "bench/gpu/apart.h"
#include "bench/gpu/kernels.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Arguments;
using interp::Array;

namespace {

constexpr int kRuns = 20, kTransposed = 1, kAsItIs = 0, kBf16 = 14, kF32 = 0, kComputeF32 = 68, kDefaultAlgorithm = -1;

struct Cublas {
  int (*create)(void**) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  int (*sgemm)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*, float*,
               int) = nullptr;
  int (*gemm_ex)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*,
                 int, int, int, int) = nullptr;
  void* handle = nullptr;
  std::string why_not = "not installed";  // where there is no handle

  explicit Cublas(void* stream) {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    auto find = [&](auto& f, const char* name) { return (*reinterpret_cast<void**>(&f) = dlsym(library, name)) != nullptr; };
    if (!find(create, "cublasCreate_v2") || !find(set_stream, "cublasSetStream_v2") || !find(sgemm, "cublasSgemm_v2") ||
        !find(gemm_ex, "cublasGemmEx")) {
      why_not = "lacks a function";
      return;
    }
    if (const int code = create(&handle); code != 0) {
      handle = nullptr;
      why_not = "cublasCreate returned " + std::to_string(code);
    } else if (const int set = set_stream(handle, stream); set != 0) {
      handle = nullptr;
      why_not = "cublasSetStream returned " + std::to_string(set);
    }
  }
};

void require(int code, const char* what) {
  if (code != 0) throw std::runtime_error(std::string(what) + " returned " + std::to_string(code));
}

void row(const std::string& what, double ours, double theirs, double work, const char* unit, const Cublas& cublas) {
  std::printf("| %s | %.1f us | %.1f %s |", what.c_str(), ours, work / ours * 1e-3, unit);
  if (theirs > 0)
    std::printf(" %.1f us | %.2f |\n", theirs, theirs / ours);
  else
    std::printf(" %s | |\n", cublas.why_not.c_str());
}

struct Timed {
  const Device& device;
  codegen::Compiled f;
  Arguments arguments;
  Tensors tensors;
  mutable Workspace workspace;
  Timed(const Device& d, const std::string& name, Arguments a)
      : device(d),
        f(codegen::compile(kernel_named(name, target_for(d)), Target::parse(target_for(d)))),
        arguments(std::move(a)),
        tensors(d, arguments),
        workspace(d) {}
  double microseconds() const {
    ashlar_error error = {};
    ashlar_context c = {};
    c.size = sizeof c;
    c.stream = device.stream();
    c.error = &error;
    workspace.lend_to(c);
    int code = ASHLAR_OK;
    const double t = device.microseconds(kRuns, [&] { code = code == ASHLAR_OK ? f.call(tensors.list(), &c) : code; });
    require(code, f.descriptor().name);
    return t;
  }
};

// A product of n x n matrices, compared with cuBLAS's in the same buffers and named `call` in an error. `theirs` runs that once
// and returns its code; `most` is how far apart results may be.
void product(const Device& d, const Cublas& cublas, std::int64_t n, const std::string& kernel, Type from, Type to,
             const std::string& what, const char* call, double most, const std::function<int(const Timed&)>& theirs) {
  Timed t(d, kernel, {random_array(from, {n, n}, 1), random_array(from, {n, n}, 2), Array::zeros(to, {n, n})});
  const double ours = t.microseconds();
  double other_time = 0;
  if (cublas.handle) {
    Array mine = t.arguments[2].array, other = mine;
    t.tensors.read(2, mine);
    int code = 0;
    other_time = d.microseconds(kRuns, [&] { code |= theirs(t); });
    require(code, call);
    t.tensors.read(2, other);
    if (const double e = apart(other, mine); !(e <= most))
      throw std::runtime_error(kernel + " and " + call + " differ by " + std::to_string(e));
  }
  row(what + ", " + std::to_string(n), ours, other_time, 2.0 * static_cast<double>(n * n * n), "GFLOP/s", cublas);
}

// cuBLAS counts by columns, so C^T = B^T A^T.
void product_f32(const Device& d, const Cublas& cublas, std::int64_t n) {
  product(d, cublas, n, "product", f32, f32, "product of f32", "cublasSgemm", 1e-4, [&](const Timed& t) {
    const float one = 1, zero = 0;
    const int m = static_cast<int>(n);
    return cublas.sgemm(cublas.handle, kAsItIs, kAsItIs, m, m, m, &one, static_cast<const float*>(t.tensors.pointer(1)), m,
                        static_cast<const float*>(t.tensors.pointer(0)), m, &zero, static_cast<float*>(t.tensors.pointer(2)),
                        m);
  });
}

void product_bf16(const Device& d, const Cublas& cublas, std::int64_t n, const std::string& kernel, Type to, int transposed,
                  int their_type, const std::string& what, double most) {
  product(d, cublas, n, kernel, bf16, to, what, "cublasGemmEx", most, [&](const Timed& t) {
    const float one = 1, zero = 0;
    const int m = static_cast<int>(n);
    return cublas.gemm_ex(cublas.handle, transposed, kAsItIs, m, m, m, &one, t.tensors.pointer(1), kBf16, m,
                          t.tensors.pointer(0), kBf16, m, &zero, t.tensors.pointer(2), their_type, m, kComputeF32,
                          kDefaultAlgorithm);
  });
}

void persistent(const Device& d, const Cublas& cublas, std::int64_t n) {
  product_bf16(d, cublas, n, "matmul", bf16, kTransposed, kBf16, "product of bf16, by hand", 2e-2);
}

void by_instruction(const Device& d, const Cublas& cublas, std::int64_t n) {
  product_bf16(d, cublas, n, "mma_product", f32, kAsItIs, kF32, "product of bf16 into f32, by a user's instruction", 1e-3);
}

}  // namespace

int times(const Device& d) {
  char date[32] = {};
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  const Cublas cublas(d.stream());
  std::printf("\n## On a GPU: %s, driver for CUDA %d.%d, %s\n\n", d.name().c_str(), d.driver_version() / 1000,
              d.driver_version() % 1000 / 10, date);
  std::printf("`./dev gpu`; medians of %d runs between events of the device, random data, %s.\n\n", kRuns,
              cublas.handle ? "products compared with cuBLAS's" : ("nothing compared: cuBLAS " + cublas.why_not).c_str());
  std::printf("| kernel | Ashlar | rate | cuBLAS | cuBLAS's time by ours |\n|---|---|---|---|---|\n");
  for (std::int64_t n : {1024, 2048}) product_f32(d, cublas, n);
  for (std::int64_t n : {2048, 4096}) by_instruction(d, cublas, n);
  if (target_for(d) == "cuda-sm_90a")
    for (std::int64_t n : {4096, 8192}) persistent(d, cublas, n);
  std::printf("\n| kernel | Ashlar | its arguments, each once |\n|---|---|---|\n");
  const std::map<std::string, std::int64_t> matrix = {{"M", 8192}, {"N", 4096}}, vector = {{"N", std::int64_t{1} << 26}};
  const struct {
    const char *name, *shape;
    std::map<std::string, std::int64_t> sizes;
  } others[] = {{"add_bias", "8192 x 4096 f32", matrix},
                {"transpose", "8192 x 4096 f32", matrix},
                {"softmax", "8192 x 4096 f32", matrix},
                {"softmax_tree", "8192 x 4096 f32", matrix},
                {"row_sums", "8192 x 4096 f32", matrix},
                {"sum", "2^26 f32", vector},
                {"sum_tree", "2^26 f32", vector},
                {"conv3x3", "256 x 256, 32 channels to 32", {{"H", 256}, {"W", 256}, {"C", 32}, {"D", 32}}},
                {"attention", "8 heads, 1024 x 1024", {{"H", 8}, {"M", 1024}, {"N", 1024}}},
                {"pipelined_product", "2048 x 2048 x 2048 f32", {{"M", 2048}, {"N", 2048}, {"K", 2048}}}};
  for (const auto& o : others) {
    const Timed t(d, o.name, arguments_of(kernel_named(o.name, target_for(d)), o.sizes));
    double bytes = 0;
    for (const interp::Actual& a : t.arguments) bytes += static_cast<double>(a.array.bytes.size());
    const double us = t.microseconds();
    std::printf("| %s of %s | %.1f us | %.0f GB/s |\n", o.name, o.shape, us, bytes / us * 1e-3);
  }
  return 0;
}

}  // namespace gpu_bench
