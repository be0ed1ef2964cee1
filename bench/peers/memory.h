#pragma once
// The libraries that kernels bound by memory are compared with, beside oneDNN (bench/peers/onednn_library.h). What is made is a
// call on given arrays, prepared as the library's users would: primitives made beforehand, weights laid out as it wants them.
// Arrays are dense, rows last.
//
//   const Prepared p = eigen_softmax(x, y, 1024, 1024);      p.run(), as often as wanted; p.about: "jit:avx512_core"
#include <cstdint>
#include <functional>
#include <string>

namespace bench {

struct Prepared {
  std::function<void()> run;
  std::string about;  // the implementation that the library chose, where it says
};

// On one thread; Eigen has no threads for these, nor has OpenBLAS for its transposition.
Prepared eigen_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns);
Prepared eigen_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                          std::int64_t columns, float epsilon);
Prepared eigen_sum(const float* x, float* y, std::int64_t n);
Prepared eigen_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns);

Prepared openblas_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns);

// Halide's pipelines (bench/halide), in the library that the environment variable ASHLAR_BENCH_HALIDE names. Without it nothing
// can be run: halide_missing() says so, "" where it is there. A library that cannot be loaded is an error.
std::string halide_missing();
std::string halide_about();  // its version and target
void halide_threads(int);
Prepared halide_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns);
Prepared halide_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                           std::int64_t columns);
Prepared halide_gelu(const float* x, float* y, std::int64_t n);
Prepared halide_sum(const float* x, float* y, std::int64_t n);
Prepared halide_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns);
// w: [3, 3, channels]
Prepared halide_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                          std::int64_t width);
Prepared halide_box_blur(const std::uint16_t* x, std::uint16_t* y, std::int64_t height, std::int64_t width);
Prepared halide_unsharp(const float* x, float* y, std::int64_t height, std::int64_t width);  // three planes

}  // namespace bench
