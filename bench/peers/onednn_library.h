#pragma once
// oneDNN as a peer, in as many versions as there are: what a race asks of it is prepared as its users would, primitives made
// beforehand and weights laid out as it wants them, which is not timed. The same sources are compiled for each version
// (bench/peers/onednn*.cpp), for the one that the bench is linked with and for one in a library that the bench loads.
//
//   for (const OnednnVersion& v : onednns()) sides.add(v.impl, v.library->softmax(x, y, 1024, 1024));
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/peers/memory.h"

namespace bench {

enum class Narrow { u8s8, bf16 };  // u8 by i8 in i32, bf16 in f32

// A convolution in f32 of one picture with a rim of zeros, in the layouts that the library chooses.
struct ConvolutionShape {
  std::int64_t channels, outputs, size, window, stride;
};
struct PreparedConvolution {
  Prepared call;
  std::function<void()> take_result;  // in nchw, to where the result was wanted
};

// The functions of one version. It plans for the threads there are (onednn_threads) when a primitive is made. What it has not
// gives a Prepared that cannot be run, and says so in `about`.
struct Onednn {
  const char* version;  // "2.6.3"
  Prepared (*matmul)(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
  Prepared (*narrow_product)(Narrow, const void* A, const void* B, void* C, std::int64_t M, std::int64_t N, std::int64_t K);
  // 3 x 3, stride 1, a rim of zeros, channels last; weights as oihw.
  Prepared (*narrow_convolution)(Narrow, const void* X, const void* weights, void* Y, std::int64_t size, std::int64_t channels);
  PreparedConvolution (*convolution)(const ConvolutionShape&, const float* x, const float* weights, float* result);
  // Attention of `heads` heads, softmax(q k' / sqrt(D)) v; k and v are [heads, length, D], q and y [heads, queries, D]. Of one
  // head at a time, whose scores stay in the cache, or of all heads at once.
  Prepared (*attention)(bool head_by_head, const float* q, const float* k, const float* v, float* y, std::int64_t heads,
                        std::int64_t queries, std::int64_t length, std::int64_t D);
  Prepared (*softmax)(const float* x, float* y, std::int64_t rows, std::int64_t columns);
  Prepared (*layer_norm)(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                         std::int64_t columns, float epsilon);
  Prepared (*gelu)(const float* x, float* y, std::int64_t n);
  Prepared (*sum)(const float* x, float* y, std::int64_t n);  // of all elements, y[1]
  Prepared (*transpose)(const float* x, float* y, std::int64_t rows, std::int64_t columns);
  // 3 x 3, stride 1, a rim of one zero; x, y: [height, width, channels], w: [channels, 3, 3].
  Prepared (*depthwise)(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                        std::int64_t width);
};

struct OnednnVersion {
  std::string impl;  // "onednn", which the bench is linked with; "onednn 3.6.2"
  const Onednn* library;
};
// The linked one, and the one in the library that the environment variable ASHLAR_BENCH_ONEDNN names (bench/onednn).
// A library that cannot be loaded is an error.
const std::vector<OnednnVersion>& onednns();
std::string onednn_missing();  // why there is no other one, "" where there is
void onednn_threads(int);      // of all versions, which share OpenMP's

}  // namespace bench

extern "C" const bench::Onednn* bench_onednn();  // of the version that this was compiled for
